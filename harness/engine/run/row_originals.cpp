#include "harness/engine/run/row_originals.h"

#include <cstdint>

namespace assay {
namespace {

/// Tensors that are smaller in total go through the host: kernels on the device would cost more than they
/// save, unless the tensors are needed again for every block.
constexpr std::uint64_t worth_keeping_bytes = std::uint64_t{1} << 20;

std::uint64_t bytes_of_tensors(const Case& test_case) {
  std::uint64_t sum = 0;
  for (const Physical& physical : physical_tensors(test_case))
    sum += static_cast<std::uint64_t>(physical.bytes());
  return sum;
}

}  // namespace

std::unique_ptr<Originals> originals_for(const DeviceRow& row, PackedInputs& inputs, DeviceContext& context) {
  const std::uint64_t bytes = bytes_of_tensors(row.test_case());
  const bool is_small = row.plan().mode == Mode::Accu && bytes < worth_keeping_bytes;
  if (bytes > context.kept.limit || is_small) return nullptr;
  try {
    return std::make_unique<Originals>(context.device, context.memory(), row.test_case(), inputs);
  } catch (const gpu::OutOfMemory&) {
    return nullptr;
  }
}

void keep_originals(Experiment& experiment, DeviceContext& context) {
  const Originals* kept = experiment.originals();
  if (kept != nullptr && !context.kept.take(kept->memory_bytes())) experiment.take_originals().reset();
}

}  // namespace assay
