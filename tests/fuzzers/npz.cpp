#include "harness/base/error.h"
#include "harness/tensor/npy/array_file.h"
#include "tests/fuzzers/input_file.h"

// An archive of arrays: its members are read, or it is refused with an error.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const assay::test::InputFile file("x.npz");
  try {
    assay::read_npz(file.write(data, size));
  } catch (const assay::Error&) {
  }
  return 0;
}
