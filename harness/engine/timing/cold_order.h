#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace assay {

/// The order in which programs use the sets of a cold row: round after round over all of them. Each round has
/// a new order, in which no set moves so far that its data could still be in a cache when it comes again:
/// at least seven eighths of the sets come before.
class ColdOrder {
 public:
  /// `chance` must outlive this object. There must be a set.
  ColdOrder(std::size_t sets, std::mt19937_64& chance);

  std::size_t sets() const { return order_.size(); }
  /// The sets of the next programs, one each.
  std::vector<std::size_t> take(std::size_t programs);

 private:
  void draw_round();

  std::mt19937_64* chance_;
  std::vector<std::size_t> order_;
  std::size_t next_ = 0;
};

}  // namespace assay
