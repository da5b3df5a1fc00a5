#pragma once

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
  /// A real number from `low` to `high`.
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
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

/// Draws a size up to 300. Sizes at which kernels are more often wrong are more frequent: 1, a few, primes,
/// multiples of a vector or a tile and their neighbours.
std::int64_t drawn_size(Draw& draw);

}  // namespace assay::app
