#include "harness/engine/timing/cold_order.h"

#include <algorithm>
#include <numeric>

namespace assay {
namespace {

constexpr std::size_t groups = 8;  // sets change places within their group only

}  // namespace

ColdOrder::ColdOrder(std::size_t sets, std::mt19937_64& chance) : chance_(&chance), order_(sets) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::shuffle(order_, chance);
}

void ColdOrder::draw_round() {
  const std::size_t most = std::max<std::size_t>(order_.size() / groups, 1);
  for (std::size_t first = 0; first < order_.size(); first += most) {
    const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(most, order_.size() - first));
    std::shuffle(begin, end, *chance_);
  }
}

std::vector<std::size_t> ColdOrder::take(std::size_t programs) {
  std::vector<std::size_t> taken;
  taken.reserve(programs);
  while (taken.size() < programs) {
    if (next_ == order_.size()) {
      draw_round();
      next_ = 0;
    }
    taken.push_back(order_[next_++]);
  }
  return taken;
}

}  // namespace assay
