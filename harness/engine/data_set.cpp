#include "harness/engine/data_set.h"

#include "harness/core/hash.h"
#include "harness/core/error.h"
#include "harness/core/npy.h"
#include "harness/engine/stopwatch.h"

#include <fmt/format.h>

namespace assay {
namespace {

HostTensor read_input(const TensorSpec& spec, const std::string& file) {
  HostTensor tensor = read_npy(file);
  if (tensor.dtype() != spec.dtype || tensor.shape() != spec.shape) {
    throw Error(fmt::format("filling '{}' from {}: the file holds {} {}, the case needs {} {}", spec.name,
                            file, name_of(tensor.dtype()), to_string(tensor.shape()), name_of(spec.dtype),
                            to_string(spec.shape)));
  }
  return tensor;
}

std::vector<HostTensor> make_inputs(const Case& one) {
  const std::uint64_t key = hash64(one.op->name + "\n" + one.params.canonical());
  std::vector<HostTensor> inputs;
  for (std::size_t i = 0; i < one.tensors.size(); ++i) {
    const TensorSpec& spec = one.tensors[i];
    if (!spec.is_input()) continue;
    const FillSpec& fill = one.fills.at(spec.name);
    inputs.push_back(fill.kind == FillKind::Npy
                         ? read_input(spec, fill.file)
                         : make_filled(spec.dtype, spec.shape, fill, spec.domain,
                                       {one.seed, key, static_cast<std::uint32_t>(i)}));
  }
  return inputs;
}

/// Values that the case's author supplies replace the reference's; bounds stay the reference's.
void take_expected_files(const Case& one, std::vector<Expected>& expected) {
  std::size_t output = 0;
  for (const TensorSpec& spec : one.tensors) {
    if (spec.is_input()) continue;
    const auto file = one.expected_files.find(spec.name);
    if (file != one.expected_files.end()) expected[output].values = read_input(spec, file->second);
    ++output;
  }
}

}  // namespace

DataSet make_data_set(const Case& one) {
  DataSet data;
  data.inputs = make_inputs(one);
  data.input_hash = hash_of(data.inputs);
  const Stopwatch watch;
  data.expected = one.op->reference(one.params, data.inputs);
  data.reference_ms = watch.ms();
  take_expected_files(one, data.expected);
  return data;
}

}  // namespace assay
