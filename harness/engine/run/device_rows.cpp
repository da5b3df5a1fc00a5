#include "harness/engine/run/device_rows.h"

namespace assay {
namespace {

std::size_t bytes_of(std::span<const HostTensor> tensors) {
  std::size_t sum = 0;
  for (const HostTensor& tensor : tensors) sum += tensor.bytes().size();
  return sum;
}

}  // namespace

std::size_t waiting_bytes(const RowGroup& group, std::span<const std::unique_ptr<DeviceRow>> rows) {
  std::size_t sum = 0;
  if (group.data) {
    sum += 2 * bytes_of(group.data->inputs);
    for (const Expected& expected : group.data->expected) sum += expected.values.bytes().size();
  }
  for (const auto& row : rows) sum += bytes_of(*row->outputs);
  return sum;
}

}  // namespace assay
