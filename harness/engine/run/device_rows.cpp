#include "harness/engine/run/device_rows.h"

namespace assay {
namespace {

std::size_t bytes_of(std::span<const HostTensor> tensors) {
  std::size_t sum = 0;
  for (const HostTensor& tensor : tensors) sum += tensor.bytes().size();
  return sum;
}

std::size_t bytes_of(const Expected& expected) {
  return expected.values.bytes().size() + expected.bound.size() * sizeof(float) +
         expected.magnitude.size() * sizeof(float) + expected.unrounded.size() * sizeof(double);
}

}  // namespace

std::size_t waiting_bytes(const RowGroup& group, std::span<const std::unique_ptr<DeviceRow>> rows) {
  std::size_t sum = 0;
  if (group.data) {
    sum += 2 * bytes_of(group.data->inputs);
    for (const Expected& expected : group.data->expected) sum += bytes_of(expected);
    for (const auto& values : group.data->from_files) sum += values ? values->bytes().size() : 0;
  }
  for (const RowGroup::SecretData& secret : group.secret) {
    if (secret.data) sum += 2 * bytes_of(secret.data->inputs);
  }
  for (const auto& row : rows) {
    for (const JudgedRun& one : row->timed) sum += one.outputs ? bytes_of(*one.outputs) : 0;
  }
  return sum;
}

}  // namespace assay
