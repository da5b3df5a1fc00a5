#include "harness/engine/dump.h"

#include "harness/core/error.h"
#include "harness/core/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace assay {
namespace {

HostTensor error_of(const HostTensor& got, const HostTensor& expected) {
  HostTensor error(DType::F64, got.shape());
  const std::span<double> values = error.as<double>();
  for (std::int64_t i = 0; i < got.numel(); ++i)
    values[static_cast<std::size_t>(i)] = got.at(i) - expected.at(i);
  return error;
}

std::filesystem::path make_folder(const std::filesystem::path& root, std::string id) {
  std::replace(id.begin(), id.end(), '/', '_');
  std::filesystem::path folder = root / id;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw Error(fmt::format("dumping tensors: creating '{}': {}", folder.string(), error.message()),
                ExitCode::Infrastructure);
  }
  return folder;
}

}  // namespace

std::filesystem::path dump_tensors(const std::filesystem::path& root, const Case& one, const DataSet& data,
                                   const Assessment& assessment) {
  const std::filesystem::path folder = make_folder(root, one.id);
  std::size_t input = 0;
  std::size_t output = 0;
  for (const TensorSpec& spec : one.tensors) {
    if (spec.is_input()) {
      write_npy(folder / (spec.name + ".npy"), data.inputs[input++]);
      continue;
    }
    const HostTensor& got = assessment.outputs[output];
    const HostTensor& expected = data.expected[output].values;
    write_npy(folder / (spec.name + ".got.npy"), got);
    write_npy(folder / (spec.name + ".expected.npy"), expected);
    write_npy(folder / (spec.name + ".error.npy"), error_of(got, expected));
    ++output;
  }
  return folder;
}

}  // namespace assay
