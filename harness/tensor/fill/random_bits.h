#pragma once

#include "harness/tensor/fill/fill_spec.h"

#include <array>
#include <cstdint>
#include <span>

namespace assay {

/// The random bits of one element.
struct Bits {
  std::uint32_t a = 0, b = 0;
  friend bool operator==(const Bits&, const Bits&) = default;
};

/// The random bits of a tensor's elements, each a pure function of data key and index. Philox's counter is
/// {index/4 (two words), tensor, word}: word 0 gives `a` of four elements, word 1 gives `b`.
class RandomBits {
 public:
  explicit RandomBits(const DataKey& key);

  /// Reads the bits of elements `first`, first + 1, ...; `first` is a multiple of 4.
  void read(std::int64_t first, std::span<Bits> out) const;

  /// Returns the element below `count` that the key picks. It gets the value that every tensor needs at least
  /// once.
  std::int64_t pick(std::int64_t count) const;

 private:
  std::uint64_t key_;
  std::uint32_t tensor_;
};

/// Returns a uniform integer in [0, count), count <= 2^32, from 32 random bits.
inline std::int64_t below(std::uint64_t count, std::uint32_t bits) {
  return static_cast<std::int64_t>(bits * count >> 32);
}

/// The range of an Irwin-Hall sum: four 16-bit uniforms minus their mean, a bell over [-bell_end, bell_end].
inline constexpr std::int32_t bell_end = 131070;
inline std::int32_t bell(Bits bits) {
  const std::uint32_t sum = (bits.a >> 16) + (bits.a & 0xffffU) + (bits.b >> 16) + (bits.b & 0xffffU);
  return static_cast<std::int32_t>(sum) - bell_end;
}

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11), a counter-based
/// generator: element i of a tensor can be computed without the others. It reproduces the known answers of
/// Random123.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

}  // namespace assay
