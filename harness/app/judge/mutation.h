#pragma once

#include "harness/op/op.h"
#include "harness/op/params.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace assay::app {

/// Random numbers from a seed: equal on every compiler (the distributions of <random> are not).
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  /// A number from 0 to n - 1; n > 0.
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[below(values.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

/// Draws a size at which kernels are more often wrong, up to about 300: 1, a few, primes, multiples of a
/// vector or a tile and their neighbours.
std::int64_t drawn_size(Draw& draw);

/// Parameters with other sizes: some sizes of shapes, and of integers and lists that count something, are
/// drawn again, or one size is replaced by another everywhere, or one dim of each shape is multiplied by the
/// same factor. Everything else is kept. The op may not accept the result.
Params mutated(const Op& op, const Params& params, Draw& draw);

}  // namespace assay::app
