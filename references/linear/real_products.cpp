#include "references/linear/real_products.h"

#include "harness/base/parallel.h"
#include "harness/tensor/shape.h"
#include "references/linear/product_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

namespace assay::references {
namespace {

// A block is this many rows of x by this many of w: 8 sums, each a vector along K, stay in registers.
constexpr std::int64_t x_block = 4, w_block = 2;
// A tile is the part that a thread computes at a time, in chunks along K that its cache holds.
constexpr std::int64_t real_tile = 64, chunk = 256;
// The number of multiplications that is worth a thread.
constexpr std::int64_t real_grain = 1 << 17;
// The number of columns added at a time: the lanes of the longer vector.
constexpr std::int64_t step = 4;
// The relative error of magnitudes, which are summed in float32: 64 additions per lane, products and
// conversions are off by less.
constexpr double magnitude_error = 0x1p-16;

// Vectors of 16 bytes, for which every x86-64 has registers.
using Doubles = double __attribute__((vector_size(16)));
using Floats = float __attribute__((vector_size(16)));

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

template <class Vector, class T>
Vector load(const T* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

/// A chunk of some rows, [tile, chunk]. Columns past the last one are 0 up to a multiple of `step`; columns
/// beyond are never read. Rows past the last one are undefined: their sums are not stored.
template <class T>
using Panel = std::vector<T>;

/// Adds to sums[i * tile + j] the sum over `count` columns of x[i] * w[j].
template <class T>
void add_block(const T* x, const T* w, std::int64_t count, double* sums) {
  using Vector = typename VectorOf<T>::Type;
  constexpr std::int64_t lanes = sizeof(Vector) / sizeof(T);
  Vector of_block[x_block][w_block] = {};
  for (std::int64_t k = 0; k < count; k += lanes) {
    for (std::int64_t i = 0; i < x_block; ++i) {
      const auto a = load<Vector>(x + i * chunk + k);
      for (std::int64_t j = 0; j < w_block; ++j) of_block[i][j] += a * load<Vector>(w + j * chunk + k);
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
      add(x_side_.values, w_side_.values, rows, columns, count, sums_);
      add(x_side_.magnitudes, w_side_.magnitudes, rows, columns, count, magnitudes_);
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
  static void add(const Panel<T>& x, const Panel<T>& w, std::int64_t rows, std::int64_t columns,
                  std::int64_t count, std::vector<double>& sums) {
    for (std::int64_t i = 0; i < rows; i += x_block) {
      for (std::int64_t j = 0; j < columns; j += w_block) {
        add_block(x.data() + i * chunk, w.data() + j * chunk, count, sums.data() + i * real_tile + j);
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
