#pragma once

#include "harness/tensor/npy/array_file.h"
#include "harness/tensor/tensor.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay {

/// Says what an input is filled with. The meaning depends on the tensor's domain (`FillDomain`); fill.cpp has
/// the table. For floats, `Special` mixes NaN, infinities, zeros of both signs, denormals and huge values
/// into normal data. `Mixed` gives each row a different kind of float data. `Nan` mixes in only NaN, of both
/// signs and with various payloads. `Ends` makes the first and the last value of each row the large ones.
enum class FillKind : std::uint8_t {
  Normal,
  Uniform,
  Ties,
  Saturate,
  Wide,
  Constant,
  Zero,
  Outlier,
  Special,
  Mixed,
  Nan,
  Ends,
  Npy
};

std::string_view name_of(FillKind kind);  ///< "normal", ..., "npy"
std::optional<FillKind> parse_fill(std::string_view name);

struct FillSpec {
  FillKind kind = FillKind::Normal;
  std::optional<double> value;  ///< for `constant`
  ArrayFile file;               ///< for `npy`: the resolved path
  friend bool operator==(const FillSpec&, const FillSpec&) = default;
};

/// Says what an input means, and so which values it may take under each fill.
enum class FillRole : std::uint8_t {
  Data,       ///< activations, weights, quantized values
  Scale,      ///< finite and > 0, whatever the fill; powers of two under `ties`
  ZeroPoint,  ///< inside [lo, hi], whatever the fill
  Index,      ///< inside [lo, hi], whatever the fill
};

struct FillDomain {
  FillRole role = FillRole::Data;
  double lo = 0;  ///< integers: smallest allowed value; float Data: ignored; Scale: smallest (0: 2^-8)
  double hi = 0;  ///< integers: largest allowed value; float Data: magnitude that `saturate` exceeds (0:
                  ///< 1024); Scale: largest (0: 2^-2)
  friend bool operator==(const FillDomain&, const FillDomain&) = default;
};

/// Identifies one tensor's data: value = f(seed, key, tensor, index) for every compiler, thread count and
/// device.
struct DataKey {
  std::uint64_t seed = 0;
  std::uint64_t key = 0;     ///< hash of op and data parameters
  std::uint32_t tensor = 0;  ///< index of the tensor in the op's declaration
};

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

/// Returns a filled tensor. Throws std::logic_error for `Npy`, whose files the case loader reads.
HostTensor make_filled(DType dtype, const Shape& shape, const FillSpec& fill, const FillDomain& domain,
                       const DataKey& key);

}  // namespace assay
