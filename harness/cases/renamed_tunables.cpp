#include "harness/cases/renamed_tunables.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::cases {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> renamed{{
    {"places", "vectors_per_invocation"},
    {"apart", "stride"},
    {"rounds", "iterations"},
}};

}  // namespace

std::optional<std::string> renamed_tunable(std::string_view old_name) {
  const auto* const found = std::ranges::find(renamed, old_name, [](const auto& pair) { return pair.first; });
  if (found == renamed.end()) return std::nullopt;
  return std::string(found->second);
}

}  // namespace assay::cases
