#include "harness/tensor/npy/array_file.h"

#include "harness/tensor/npy/npz.h"

namespace assay {

std::string to_string(const ArrayFile& file) {
  return file.member.empty() ? file.path : file.path + "[" + file.member + "]";
}

ArrayOutline outline_of_array(const ArrayFile& file) {
  if (file.member.empty()) return {.header = read_npy_header(file.path)};
  return {.bytes = npz_member_bytes(file.path, file.member)};
}

HostTensor read_array(const ArrayFile& file) {
  if (file.member.empty()) return read_npy(file.path);
  return parse_npy(read_npz_member(file.path, file.member), to_string(file));
}

}  // namespace assay
