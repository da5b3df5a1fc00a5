#include "references/linear/products.h"

#include "harness/base/parallel.h"
#include "harness/tensor/tensor.h"
#include "references/common/qparams.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Functions that are compiled twice, and chosen from when the program starts: processors with AVX2 add twice
// as many numbers at a time. The sums are the same: those of integers in any order, those of reals in the
// same order, without fused multiplication (-ffp-contract=off). AddressSanitizer does not work with such
// functions.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ALSO_FOR_AVX2 __attribute__((target_clones("default", "avx2")))
#else
#define ALSO_FOR_AVX2
#endif

namespace assay::references {
namespace {

IntegerRows rows_of(const HostTensor& tensor, std::int64_t values_of_an_element) {
  const std::int64_t elements = tensor.shape().back();
  IntegerRows made{tensor.numel() / elements, elements * values_of_an_element, {}};
  made.values.resize(static_cast<std::size_t>(made.rows * made.depth));
  return made;
}

/// Calls fill(row, values) for every row.
template <class Fill>
void fill_rows(IntegerRows& made, const Fill& fill) {
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / made.depth);
  parallel_for(made.rows, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) fill(row, made.values.data() + row * made.depth);
  });
}

template <class ZeroPoint>
IntegerRows differences(const HostTensor& tensor, const ZeroPoint& zero_point_of) {
  IntegerRows made = rows_of(tensor, 1);
  const std::int8_t* from = tensor.as<std::int8_t>().data();
  fill_rows(made, [&](std::int64_t row, std::int16_t* to) {
    const std::int32_t zero_point = zero_point_of(row);
    const std::int8_t* q = from + row * made.depth;
    for (std::int64_t k = 0; k < made.depth; ++k) to[k] = static_cast<std::int16_t>(q[k] - zero_point);
  });
  return made;
}

template <class Real>
void quantize_rows(IntegerRows& made, const Real* x,
                   const std::function<QParams(std::int64_t row)>& qparams) {
  fill_rows(made, [&](std::int64_t row, std::int16_t* to) {
    const QParams of_row = qparams(row);
    const float inverse = 1.0F / of_row.scale;
    const auto zero_point = static_cast<float>(of_row.zero_point);
    const Real* from = x + row * made.depth;
    for (std::int64_t k = 0; k < made.depth; ++k) {
      const std::int8_t q = quantized(real_of(from[k]), inverse, zero_point);
      to[k] = static_cast<std::int16_t>(q - of_row.zero_point);
    }
  });
}

/// Rows of x that use the same rows of w, while a core's cache holds both.
constexpr std::int64_t tile = 16;
/// The number of multiplications that is worth a thread.
constexpr std::int64_t grain = 1 << 18;

/// Written so that -O3 multiplies neighbours in pairs, for which every x86-64 has an instruction.
inline std::int32_t dot(const std::int16_t* x, const std::int16_t* w, std::int64_t count) {
  std::int32_t sum = 0;
  for (std::int64_t k = 0; k < count; ++k) sum += std::int32_t{x[k]} * w[k];
  return sum;
}

ALSO_FOR_AVX2 void sum_groups(const std::int16_t* x, const std::int16_t* w, std::int64_t group_size,
                              std::span<std::int32_t> sums) {
  for (std::int32_t& sum : sums) {
    sum = dot(x, w, group_size);
    x += group_size;
    w += group_size;
  }
}

#if defined(__SSE2__)
constexpr std::int64_t eight = 8;

/// The sums of neighbours, in pairs.
__m128i products_of_eight(const std::int16_t* x, const std::int16_t* w) {
  __m128i a, b;
  std::memcpy(&a, x, sizeof(a));
  std::memcpy(&b, w, sizeof(b));
  return _mm_madd_epi16(a, b);
}

/// Four groups of eight at a time: the four sums of pairs of each are the rows of a square, whose columns are
/// added.
void sum_eights(const std::int16_t* x, const std::int16_t* w, std::int64_t, std::span<std::int32_t> sums) {
  while (sums.size() >= 4) {
    const __m128i a = products_of_eight(x, w), b = products_of_eight(x + eight, w + eight);
    const __m128i c = products_of_eight(x + 2 * eight, w + 2 * eight);
    const __m128i d = products_of_eight(x + 3 * eight, w + 3 * eight);
    const __m128i a_b = _mm_add_epi32(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
    const __m128i c_d = _mm_add_epi32(_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
    const __m128i four = _mm_add_epi32(_mm_unpacklo_epi64(a_b, c_d), _mm_unpackhi_epi64(a_b, c_d));
    std::memcpy(sums.data(), &four, sizeof(four));
    x += 4 * eight;
    w += 4 * eight;
    sums = sums.subspan(4);
  }
  sum_groups(x, w, eight, sums);
}
#endif

using SumGroups = decltype(&sum_groups);

SumGroups sum_groups_for(std::int64_t group_size) {
#if defined(__SSE2__)
  if (group_size == eight) return sum_eights;
#endif
  return sum_groups;
}

// A block is this many rows of x by this many of w: 8 sums, each a vector along K, stay in registers.
constexpr std::int64_t x_block = 4, w_block = 2;
// A tile is the part that a thread computes at a time, in chunks along K that its cache holds.
constexpr std::int64_t real_tile = 64, chunk = 256;
// The number of multiplications that is worth a thread.
constexpr std::int64_t real_grain = 1 << 17;
// The number of columns added at a time: the lanes of the longer vector.
constexpr std::int64_t step = 8;
// The relative error of magnitudes, which are summed in float32: 32 additions per lane, products and
// conversions are off by less.
constexpr double magnitude_error = 0x1p-16;

// Vectors of 32 bytes, which have one register with AVX2, and else two.
using Doubles = double __attribute__((vector_size(32)));
using Floats = float __attribute__((vector_size(32)));

template <class T>
struct VectorOf;
template <>
struct VectorOf<double> {
  using Type = Doubles;
};
template <>
struct VectorOf<float> {
  using Type = Floats;
};

/// A chunk of some rows, [tile, chunk]. Columns past the last one are 0 up to a multiple of `step`; columns
/// beyond are never read. Rows past the last one are undefined: their sums are not stored.
template <class T>
using Panel = std::vector<T>;

/// Adds to sums[i * tile + j] the sum over `count` columns of x[i] * w[j].
template <class T>
[[gnu::always_inline]] inline void add_block(const T* x, const T* w, std::int64_t count, double* sums) {
  using Vector = typename VectorOf<T>::Type;
  constexpr std::int64_t lanes = sizeof(Vector) / sizeof(T);
  Vector of_block[x_block][w_block] = {};
  for (std::int64_t k = 0; k < count; k += lanes) {
    for (std::int64_t i = 0; i < x_block; ++i) {
      Vector a;
      std::memcpy(&a, x + i * chunk + k, sizeof(a));
      for (std::int64_t j = 0; j < w_block; ++j) {
        Vector b;
        std::memcpy(&b, w + j * chunk + k, sizeof(b));
        of_block[i][j] += a * b;
      }
    }
  }
  for (std::int64_t i = 0; i < x_block; ++i) {
    for (std::int64_t j = 0; j < w_block; ++j) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        sums[i * real_tile + j] += static_cast<double>(of_block[i][j][lane]);
      }
    }
  }
}

// Compilers do not clone templates.
ALSO_FOR_AVX2 void add(const double* x, const double* w, std::int64_t count, double* sums) {
  add_block(x, w, count, sums);
}
ALSO_FOR_AVX2 void add(const float* x, const float* w, std::int64_t count, double* sums) {
  add_block(x, w, count, sums);
}

/// One side of a tile, one chunk at a time.
struct Side {
  Panel<double> values = Panel<double>(real_tile * chunk);
  Panel<float> magnitudes = Panel<float>(real_tile * chunk);

  void read(const RealRows& rows, std::int64_t first_row, std::int64_t count, std::int64_t first) {
    const std::int64_t last = std::min(first + chunk, rows.depth), columns = round_up(last - first, step);
    for (std::int64_t i = 0; i < count; ++i) {
      double* to = values.data() + i * chunk;
      rows.read(first_row + i, first, last, to);
      std::fill(to + (last - first), to + columns, 0.0);
      std::transform(to, to + columns, magnitudes.data() + i * chunk,
                     [](double value) { return static_cast<float>(std::fabs(value)); });
    }
  }
};

/// The memory that a thread needs for a tile.
class Tile {
 public:
  Tile(const RealRows& x, const RealRows& w) : x_(x), w_(w) {}

  void compute(std::int64_t m0, std::int64_t n0, const StoreProduct& store) {
    const std::int64_t rows = std::min(real_tile, x_.rows - m0), columns = std::min(real_tile, w_.rows - n0);
    std::ranges::fill(sums_, 0.0);
    std::ranges::fill(magnitudes_, 0.0);
    for (std::int64_t k = 0; k < x_.depth; k += chunk) {
      x_side_.read(x_, m0, rows, k);
      w_side_.read(w_, n0, columns, k);
      const std::int64_t count = round_up(std::min(chunk, x_.depth - k), step);
      add_panels(x_side_.values, w_side_.values, rows, columns, count, sums_);
      add_panels(x_side_.magnitudes, w_side_.magnitudes, rows, columns, count, magnitudes_);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto at = static_cast<std::size_t>(i * real_tile + j);
        store(m0 + i, n0 + j, sums_[at], magnitudes_[at] * (1 + magnitude_error));
      }
    }
  }

 private:
  template <class T>
  static void add_panels(const Panel<T>& x, const Panel<T>& w, std::int64_t rows, std::int64_t columns,
                         std::int64_t count, std::vector<double>& sums) {
    for (std::int64_t i = 0; i < rows; i += x_block) {
      for (std::int64_t j = 0; j < columns; j += w_block) {
        add(x.data() + i * chunk, w.data() + j * chunk, count, sums.data() + i * real_tile + j);
      }
    }
  }

  const RealRows& x_;
  const RealRows& w_;
  Side x_side_, w_side_;
  std::vector<double> sums_ = std::vector<double>(real_tile * real_tile);
  std::vector<double> magnitudes_ = std::vector<double>(real_tile * real_tile);
};

}  // namespace

IntegerRows int8_rows(const HostTensor& tensor, std::int32_t zero_point) {
  return differences(tensor, [=](std::int64_t) { return zero_point; });
}

IntegerRows int8_rows(const HostTensor& tensor, std::span<const std::int32_t> zero_points) {
  return differences(tensor, [=](std::int64_t row) { return zero_points[static_cast<std::size_t>(row)]; });
}

IntegerRows quantized_rows(const HostTensor& x, const std::function<QParams(std::int64_t row)>& qparams) {
  IntegerRows made = rows_of(x, 1);
  if (x.dtype() == DType::F32) {
    quantize_rows(made, x.as<float>().data(), qparams);
  } else {
    quantize_rows(made, x.as<Half>().data(), qparams);
  }
  return made;
}

IntegerRows int4_rows(const HostTensor& w, EvenNibble even) {
  IntegerRows made = rows_of(w, 2);
  const std::uint8_t* bytes = w.as<std::uint8_t>().data();
  const int shift_of_even = even == EvenNibble::High ? 4 : 0;
  fill_rows(made, [&](std::int64_t row, std::int16_t* to) {
    const std::uint8_t* from = bytes + row * (made.depth / 2);
    for (std::int64_t k = 0; k < made.depth; k += 2) {
      const int byte = from[k / 2];
      to[k] = static_cast<std::int16_t>((byte >> shift_of_even & 15) - 8);
      to[k + 1] = static_cast<std::int16_t>((byte >> (4 - shift_of_even) & 15) - 8);
    }
  });
  return made;
}

IntegerRows int4_rows(const HostTensor& w, EvenNibble even, const HostTensor& zero_points) {
  IntegerRows made = int4_rows(w, even);
  const std::int32_t* zero_point = zero_points.as<std::int32_t>().data();
  const std::int64_t group_size = made.depth / zero_points.shape().front();
  fill_rows(made, [&](std::int64_t row, std::int16_t* to) {
    for (std::int64_t group = 0; group < made.depth / group_size; ++group) {
      const std::int32_t of_group = zero_point[group * made.rows + row];
      for (std::int64_t k = 0; k < group_size; ++k) to[k] = static_cast<std::int16_t>(to[k] - of_group);
      to += group_size;
    }
  });
  return made;
}

void integer_products(const IntegerRows& x, const IntegerRows& w, std::int64_t group_size,
                      const StoreSums& store) {
  const std::int64_t across = div_up(w.rows, tile);
  const SumGroups sum_all = sum_groups_for(group_size);
  const std::int64_t least = tiles_of_a_thread(x, w, tile, grain);
  parallel_for(div_up(x.rows, tile) * across, least, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::int32_t> sums(static_cast<std::size_t>(w.depth / group_size));
    for (std::int64_t t = first; t < last; ++t) {
      const std::int64_t m0 = t / across * tile, n0 = t % across * tile;
      for (std::int64_t m = m0; m < std::min(m0 + tile, x.rows); ++m) {
        for (std::int64_t n = n0; n < std::min(n0 + tile, w.rows); ++n) {
          sum_all(x.row(m), w.row(n), group_size, sums);
          store(m, n, sums);
        }
      }
    }
  });
}

void real_products(const RealRows& x, const RealRows& w, const StoreProduct& store) {
  const std::int64_t across = div_up(w.rows, real_tile);
  const std::int64_t least = tiles_of_a_thread(x, w, real_tile, real_grain);
  parallel_for(div_up(x.rows, real_tile) * across, least, [&](std::int64_t first, std::int64_t last) {
    Tile own(x, w);
    for (std::int64_t t = first; t < last; ++t)
      own.compute(t / across * real_tile, t % across * real_tile, store);
  });
}

}  // namespace assay::references
