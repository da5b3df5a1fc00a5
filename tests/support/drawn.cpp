#include "tests/support/drawn.h"

#include <cstdlib>
#include <functional>

namespace assay::test {

bool drawn(std::string_view check, unsigned one_in) {
  static const char* const draw = std::getenv("ASSAY_TEST_DRAW");
  return drawn_by(draw == nullptr ? "" : draw, check, one_in);
}

bool drawn_by(const std::string& draw, std::string_view check, unsigned one_in) {
  return draw.empty() || std::hash<std::string>()(draw + ' ' + std::string(check)) % one_in == 0;
}

}  // namespace assay::test
