#include "harness/commands/points/draw.h"

#include <vector>

namespace assay::app {

std::int64_t drawn_size(Draw& draw) {
  static const std::vector<std::int64_t> primes{2,  3,  5,  7,  11, 13,  17,  19, 23,
                                                29, 31, 37, 61, 67, 127, 131, 257};
  static const std::vector<std::int64_t> units{4, 8, 16, 32, 64};
  static const std::vector<std::uint64_t> most{16, 64, 300};
  switch (draw.below(5)) {
    case 0:
      return draw.one_in(2) ? 1 : static_cast<std::int64_t>(draw.below(9)) + 1;
    case 1:
      return draw.one_of(primes);
    case 2:
      return static_cast<std::int64_t>(draw.below(draw.one_of(most))) + 1;
    case 3:
      return draw.one_of(units) * static_cast<std::int64_t>(draw.below(4) + 1);
    default:
      return draw.one_of(units) * static_cast<std::int64_t>(draw.below(4) + 1) + (draw.one_in(2) ? 1 : -1);
  }
}

}  // namespace assay::app
