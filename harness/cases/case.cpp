#include "harness/cases/case.h"

#include "harness/base/error.h"
#include "harness/base/hash.h"
#include "harness/base/names.h"
#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace assay {
namespace {

constexpr Names<3> mode_names{"accu", "perf", "both"};
constexpr Names<3> tier_names{"smoke", "ci", "nightly"};
constexpr Names<3> caches_names{"hot", "cold", "both"};

/// Returns why a tensor of the case cannot have its form on any device. For example, a 2D texture has one
/// slice.
std::optional<std::string> impossible_form(const Case& test_case) {
  for (std::size_t i = 0; i < test_case.tensors->size(); ++i) {
    const TensorSpec& tensor = test_case.tensors[i];
    try {
      const Physical physical(test_case.forms[i], tensor.dtype, tensor.shape);
    } catch (const Error& error) {
      return fmt::format("{}: {}", tensor.name, error.what());
    }
  }
  return std::nullopt;
}

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

std::string to_string(const Tolerance& tolerance) {
  std::string text;
  const auto add = [&](const char* name, double value, double usual) {
    if (value != usual) text += (text.empty() ? "" : " ") + std::string(name) + "=" + shortest(value);
  };
  add("scale", tolerance.scale, 1);
  add("abs", tolerance.abs, 0);
  add("rel", tolerance.rel, 0);
  add("ulp", tolerance.ulp, 0);
  add("off_by", tolerance.off_by, 0);
  add("share", tolerance.share, 1);
  return text;
}

bool Conv2dAlias::covers(std::size_t tensor) const {
  return std::ranges::find(tensors, tensor) != tensors.end();
}

Tune tune_for(const Case& test_case, const Impl& impl) {
  Tune tune = test_case.tune;
  if (test_case.tuned && test_case.tuned->impl == &impl)
    tune.insert(test_case.tuned->values.begin(), test_case.tuned->values.end());
  return tune;
}

std::vector<Physical> physical_tensors(const Case& test_case) {
  std::vector<Physical> physical;
  for (std::size_t i = 0; i < test_case.tensors->size(); ++i) {
    physical.emplace_back(test_case.forms[i], test_case.tensors[i].dtype, test_case.tensors[i].shape);
  }
  return physical;
}

std::optional<std::string> why_invalid(const Case& test_case) {
  if (const auto impossible = impossible_form(test_case)) return impossible;
  if (!test_case.impl->invalid_reason) return std::nullopt;
  return test_case.impl->invalid_reason(
      ImplPoint{test_case.params, test_case.tensors, test_case.forms, test_case.tune});
}

}  // namespace assay

namespace assay::cases {
namespace {

std::uint32_t hash_of(std::string_view id) {
  return static_cast<std::uint32_t>(hash64(id));
}

}  // namespace

void CaseList::expect(std::size_t more) {
  const std::size_t needed = cases_.size() + more;
  // Capacity at least doubles, so that many small products do not cause a copy each.
  if (needed > cases_.capacity()) cases_.reserve(std::max(needed, 2 * cases_.capacity()));
  grow_table(needed);
}

const Case* CaseList::find(std::string_view id) const {
  if (table_.empty()) return nullptr;
  const std::uint32_t hash = hash_of(id);
  for (std::size_t at = hash;; ++at) {
    const Slot& slot = table_[at % table_.size()];
    if (slot.place == 0) return nullptr;
    if (slot.hash == hash && cases_[slot.place - 1].id == id) return &cases_[slot.place - 1];
  }
}

void CaseList::add(Case added) {
  grow_table(cases_.size() + 1);
  cases_.push_back(std::move(added));
  insert({hash_of(cases_.back().id), static_cast<std::uint32_t>(cases_.size())});
}

void CaseList::grow_table(std::size_t cases) {
  if (2 * cases <= table_.size()) return;
  const std::vector<Slot> old = std::exchange(table_, std::vector<Slot>(std::bit_ceil(2 * cases)));
  for (const Slot& slot : old) {
    if (slot.place != 0) insert(slot);
  }
}

void CaseList::insert(Slot slot) {
  std::size_t at = slot.hash;
  while (table_[at % table_.size()].place != 0) ++at;
  table_[at % table_.size()] = slot;
}

std::vector<Case> CaseList::take() && {
  table_.clear();
  return std::move(cases_);
}

}  // namespace assay::cases
