#include "harness/engine/accuracy/data_set.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/hash.h"
#include "harness/tensor/npy.h"
#include "harness/tensor/tensor_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace assay {
namespace {

/// `doing` says what the file is for: "filling 'x'".
HostTensor read_tensor(const TensorSpec& spec, const std::string& file, const std::string& doing) {
  HostTensor tensor = read_npy(file);
  if (tensor.dtype() != spec.dtype || tensor.shape() != spec.shape) {
    throw Error(fmt::format("{} from {}: the file holds {} {}, the case needs {} {}", doing, file,
                            name_of(tensor.dtype()), to_string(tensor.shape()), name_of(spec.dtype),
                            to_string(spec.shape)));
  }
  return tensor;
}

std::vector<HostTensor> make_inputs(const Case& test_case) {
  const std::uint64_t key = hash64(test_case.op->name + "\n" + test_case.params.canonical());
  std::vector<HostTensor> inputs;
  for (std::size_t i = 0; i < test_case.tensors.size(); ++i) {
    const TensorSpec& spec = test_case.tensors[i];
    if (!spec.is_input()) continue;
    const FillSpec& fill = test_case.fills.at(spec.name);
    inputs.push_back(fill.kind == FillKind::Npy
                         ? read_tensor(spec, fill.file, fmt::format("filling '{}'", spec.name))
                         : make_filled(spec.dtype, spec.shape, fill, spec.domain,
                                       {test_case.seed, key, static_cast<std::uint32_t>(i)}));
  }
  return inputs;
}

/// A reference that breaks its contract would be read past its end further on.
void check_outputs(const Case& test_case, const std::vector<Expected>& expected) {
  const auto outputs = std::count_if(test_case.tensors.begin(), test_case.tensors.end(),
                                     [](const TensorSpec& spec) { return !spec.is_input(); });
  if (static_cast<std::size_t>(outputs) == expected.size()) return;
  throw std::logic_error(fmt::format("the reference of {} gave {} outputs, the op declares {}",
                                     test_case.op->name, expected.size(), outputs));
}

/// Values that the case's author supplies replace the reference's; bounds stay the reference's.
void take_expected_files(const Case& test_case, std::vector<Expected>& expected) {
  std::size_t output = 0;
  for (const TensorSpec& spec : test_case.tensors) {
    if (spec.is_input()) continue;
    const auto file = test_case.expected_files.find(spec.name);
    if (file != test_case.expected_files.end()) {
      expected[output].values =
          read_tensor(spec, file->second, fmt::format("taking the expected values of '{}'", spec.name));
    }
    ++output;
  }
}

}  // namespace

DataSet make_data_set(const Case& test_case) {
  DataSet data;
  data.inputs = make_inputs(test_case);
  data.input_hash = hash_of(data.inputs);
  const Stopwatch watch;
  data.expected = test_case.op->reference(test_case.params, data.inputs);
  data.reference_ms = watch.ms();
  check_outputs(test_case, data.expected);
  take_expected_files(test_case, data.expected);
  return data;
}

}  // namespace assay
