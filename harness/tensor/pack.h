#pragma once

#include "harness/tensor/form.h"
#include "harness/tensor/tensor.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay {

/// What fills memory that no element owns: outputs before a run, padding, guards, scratch. The two runs of
/// a case use A and B, which differ in every byte (B is the complement of A), so that a byte
/// that still holds A after run A and B after run B was never written.
class Poison {
 public:
  static const Poison A, B;  // NOLINT(readability-identifier-naming): the two kinds, as enumerators are named

  /// The same kind for memory of that number: every byte differs from that of any other number, modulo 256,
  /// at the same offset. Number 0 is the kind itself.
  constexpr Poison of(std::uint32_t number) const { return {flipped_, number}; }

  /// What the bytes of eight neighbours, lowest first, are xored with.
  constexpr std::uint64_t mask() const {
    std::uint64_t mask = 0;
    for (unsigned byte = 0; byte < 8; ++byte) {
      const std::uint64_t odd = 2 * byte + 75;  // odd factors keep numbers apart
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

/// The poison byte at `offset` from the start of an allocation.
std::byte poison_byte(Poison poison, std::uint64_t offset);
/// Fills `bytes`, the first of which lies at `first_offset`.
void fill_poison(std::span<std::byte> bytes, Poison poison, std::uint64_t first_offset = 0);

/// The data region (physical.bytes() bytes) of `tensor` in its physical form, padding poisoned. Poison
/// offsets count from `first_offset`. Throws Error when dtype or shape differ.
std::vector<std::byte> pack(const HostTensor& tensor, const Physical& physical, Poison poison,
                            std::uint64_t first_offset = 0);

/// The same into memory that is there: `data` has physical.bytes() bytes.
void pack_into(std::span<std::byte> data, const HostTensor& tensor, const Physical& physical, Poison poison,
               std::uint64_t first_offset = 0);

/// Whether the data region holds a byte that no element owns.
bool has_padding(const Physical& physical);

/// The logical tensor in a data region; padding is dropped.
HostTensor unpack(std::span<const std::byte> data, const Physical& physical);

}  // namespace assay
