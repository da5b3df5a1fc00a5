#include "harness/engine/packed_inputs.h"

#include <algorithm>

namespace assay {
namespace {

AllocationBytes packed(const HostTensor& input, const Physical& physical, std::uint32_t guard,
                       Poison poison) {
  AllocationBytes data = pack(input, physical, poison, guard);
  if (guard == 0) return data;
  AllocationBytes bytes(data.size() + 2 * std::size_t{guard});
  const std::span all(bytes);
  fill_poison(all.first(guard), poison);
  std::copy(data.begin(), data.end(), bytes.begin() + guard);
  fill_poison(all.last(guard), poison, guard + data.size());
  return bytes;
}

}  // namespace

std::shared_ptr<const AllocationBytes> PackedInputs::get(std::size_t index, const Physical& physical,
                                                         std::uint32_t guard, Poison poison) {
  std::weak_ptr<const AllocationBytes>& known = packed_[{index, physical.form(), guard, poison}];
  if (auto bytes = known.lock()) return bytes;
  // Not make_shared: that would keep the bytes for as long as anybody remembers them.
  std::shared_ptr<const AllocationBytes> bytes(
      new AllocationBytes(packed(inputs_[index], physical, guard, poison)));
  known = bytes;
  return bytes;
}

}  // namespace assay
