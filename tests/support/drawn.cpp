#include "tests/support/drawn.h"

#include <cstdint>
#include <cstdlib>

namespace assay::test {
namespace {

/// FNV-1a, 64 bits, with a last mixing step, as the low bits of similar names are similar.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  hash ^= hash >> 32U;
  return hash * 0x9e3779b97f4a7c15U >> 32U;
}

}  // namespace

bool drawn(std::string_view check, unsigned one_in) {
  static const char* const draw = std::getenv("ASSAY_TEST_DRAW");
  return drawn_by(draw == nullptr ? "" : draw, check, one_in);
}

bool drawn_by(const std::string& draw, std::string_view check, unsigned one_in) {
  return draw.empty() || hash_of(draw + ' ' + std::string(check)) % one_in == 0;
}

}  // namespace assay::test
