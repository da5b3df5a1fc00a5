#pragma once

#include "harness/tensor/form.h"
#include "harness/tensor/tensor.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay {

/// The fill of memory that belongs to no element: outputs before a run, padding, guards, scratch. The two
/// runs of a case use A and B, which differ in every byte (B is the complement of A). A byte that still holds
/// A after run A and B after run B was never written.
class Poison {
 public:
  static const Poison A, B;  // NOLINT(readability-identifier-naming): the two kinds, as enumerators are named

  /// Returns the same kind for memory with that number. At the same offset its bytes all differ from those of
  /// any other number modulo 256. Number 0 is the kind itself.
  constexpr Poison of(std::uint32_t number) const { return {flipped_, number}; }

  /// Returns the mask that is xored with eight neighbouring bytes, lowest first.
  constexpr std::uint64_t mask() const {
    std::uint64_t mask = 0;
    for (unsigned byte = 0; byte < 8; ++byte) {
      const std::uint64_t odd = 2 * byte + 75;  // odd factors keep the numbers distinct
      mask |= (number_ * odd & 0xFFU) << (8 * byte);
    }
    return flipped_ ? ~mask : mask;
  }

  friend constexpr auto operator<=>(const Poison&, const Poison&) = default;

 private:
  constexpr Poison(bool flipped, std::uint32_t number) : flipped_(flipped), number_(number) {}

  bool flipped_;
  std::uint32_t number_;
};

inline constexpr Poison Poison::A{false, 0};
inline constexpr Poison Poison::B{true, 0};

/// Returns the poison byte at `offset` from the start of an allocation.
std::byte poison_byte(Poison poison, std::uint64_t offset);
/// Fills `bytes`, the first of which is at `first_offset`.
void fill_poison(std::span<std::byte> bytes, Poison poison, std::uint64_t first_offset = 0);

/// Returns the data region (physical.bytes() bytes) of `tensor` in its physical form, with padding poisoned.
/// Poison offsets count from `first_offset`. Throws Error if dtype or shape differ.
std::vector<std::byte> pack(const HostTensor& tensor, const Physical& physical, Poison poison,
                            std::uint64_t first_offset = 0);

/// Packs into existing memory: `data` has physical.bytes() bytes.
void pack_into(std::span<std::byte> data, const HostTensor& tensor, const Physical& physical, Poison poison,
               std::uint64_t first_offset = 0);

/// Returns whether the data region has bytes that belong to no element.
bool has_padding(const Physical& physical);

/// Returns the logical tensor in a data region, without padding.
HostTensor unpack(std::span<const std::byte> data, const Physical& physical);

}  // namespace assay
