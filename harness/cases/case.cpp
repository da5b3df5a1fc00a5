#include "harness/cases/case.h"

#include "harness/base/names.h"

namespace assay {
namespace {

constexpr Names<3> mode_names{"accu", "perf", "both"};
constexpr Names<3> tier_names{"smoke", "ci", "nightly"};
constexpr Names<3> caches_names{"hot", "cold", "both"};

}  // namespace

std::string_view name_of(Mode mode) {
  return name_in(mode_names, mode);
}

std::string_view name_of(Tier tier) {
  return name_in(tier_names, tier);
}

std::string_view name_of(Caches caches) {
  return name_in(caches_names, caches);
}

std::optional<Mode> parse_mode(std::string_view name) {
  return value_in<Mode>(mode_names, name);
}

std::optional<Tier> parse_tier(std::string_view name) {
  return value_in<Tier>(tier_names, name);
}

std::optional<Caches> parse_caches(std::string_view name) {
  return value_in<Caches>(caches_names, name);
}

std::vector<Physical> physical_tensors(const Case& test_case) {
  std::vector<Physical> physical;
  for (std::size_t i = 0; i < test_case.tensors.size(); ++i) {
    physical.emplace_back(test_case.forms[i], test_case.tensors[i].dtype, test_case.tensors[i].shape);
  }
  return physical;
}

}  // namespace assay
