#pragma once

#include "harness/tensor/npy/array_file.h"

#include <cstddef>
#include <cstdint>
#include <optional>
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
  double lo = 0;    ///< integers: smallest allowed value; float Data: ignored; Scale: smallest (0: 2^-8)
  double hi = 0;    ///< integers: largest allowed value; float Data: magnitude that `saturate` exceeds (0:
                    ///< 1024); Scale: largest (0: 2^-2)
  double most = 0;  ///< float Data: the largest magnitude; what a fill makes beyond it, infinities included,
                    ///< becomes +-most, and NaN stays. 0: any value
  /// Float Data that is added to scores: NaN and infinities of a fill become -infinity. Others are beyond the
  /// domain.
  bool hides = false;
  /// Floats: the indices along dim `valid_axis` from which on all elements are NaN, whatever the fill: rows
  /// of a cache that do not exist yet. Nothing: all elements exist.
  std::optional<std::int64_t> valid;
  std::size_t valid_axis = 0;
  friend bool operator==(const FillDomain&, const FillDomain&) = default;
};

/// Identifies one tensor's data: value = f(seed, key, tensor, index) for every compiler, thread count and
/// device.
struct DataKey {
  std::uint64_t seed = 0;
  std::uint64_t key = 0;     ///< hash of op and data parameters
  std::uint32_t tensor = 0;  ///< index of the tensor in the op's declaration
};

}  // namespace assay
