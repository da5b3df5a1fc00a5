#include "harness/cases/tuning/tuning.h"

#include "harness/base/text.h"
#include "harness/tensor/form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

namespace assay {
namespace {

/// The numbers of an integer, a shape or a list; none of another value.
std::vector<std::int64_t> numbers_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return {*integer};
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) return *list;
  return {};
}

bool has_forms(const TuningEntry& entry, const Case& test_case) {
  return std::ranges::all_of(entry.forms, [&](const auto& wanted) {
    for (std::size_t i = 0; i < test_case.tensors->size(); ++i) {
      if (test_case.tensors[i].name == wanted.first) return to_string(test_case.forms[i]) == wanted.second;
    }
    return false;  // the point has no such tensor
  });
}

std::string range_text(const ValueRange& range) {
  return range.low == range.high ? std::to_string(range.low) : fmt::format("{}..{}", range.low, range.high);
}

std::string condition_text(const TuningCondition& condition) {
  if (!condition.word.empty()) return condition.word;
  std::vector<std::string> ranges;
  for (const ValueRange& range : condition.ranges) ranges.push_back(range_text(range));
  const std::string joined = fmt::format("{}", fmt::join(ranges, ", "));
  return condition.is_list ? "[" + joined + "]" : joined;
}

/// "{M: 1..64, dtype: f16}"
template <class Map, class Text>
std::string flow_map(const Map& map, Text text) {
  std::vector<std::string> pairs;
  for (const auto& [name, value] : map) pairs.push_back(fmt::format("{}: {}", name, text(value)));
  return fmt::format("{{{}}}", fmt::join(pairs, ", "));
}

std::string entry_yaml(const TuningEntry& entry) {
  std::string text = fmt::format("  - op: {}\n    impl: {}\n", entry.op, entry.impl);
  const auto add = [&](const char* key, const std::string& value) {
    text += fmt::format("    {}: {}\n", key, value);
  };
  if (!entry.when.empty()) add("when", flow_map(entry.when, condition_text));
  const auto as_it_is = [](const auto& value) { return value; };
  if (!entry.forms.empty()) add("forms", flow_map(entry.forms, as_it_is));
  if (entry.cache) add("cache", std::string(name_of(*entry.cache)));
  add("tune", flow_map(entry.tune, as_it_is));
  if (entry.ratio > 0) add("ratio", fmt::format("{:.5g}", entry.ratio));
  if (entry.ratio_low > 0)
    add("interval", fmt::format("[{:.5g}, {:.5g}]", entry.ratio_low, entry.ratio_high));
  if (entry.shapes > 0) add("shapes", std::to_string(entry.shapes));
  if (entry.left_out_pct) add("left_out_pct", fmt::format("{:.4g}", *entry.left_out_pct));
  return text;
}

/// A text in single quotes, in which YAML knows no escapes but the doubled quote.
std::string quoted(const std::string& text) {
  std::string made = "'";
  for (const char c : printable_line(text)) made += c == '\'' ? "''" : std::string(1, c);
  return made + "'";
}

}  // namespace

bool TuningCondition::holds_for(const Value& value) const {
  if (!word.empty()) return to_string(value) == word;
  const std::vector<std::int64_t> numbers = numbers_of(value);
  if (numbers.size() != ranges.size()) return false;
  return std::ranges::equal(ranges, numbers,
                            [](const ValueRange& range, std::int64_t number) { return range.has(number); });
}

bool TuningCondition::meets(const TuningCondition& other) const {
  if (word != other.word || ranges.size() != other.ranges.size()) return false;
  return std::ranges::equal(ranges, other.ranges,
                            [](const ValueRange& a, const ValueRange& b) { return a.meets(b); });
}

bool TuningEntry::applies_to(const Case& test_case, Cache of_cache, const Impl& of_impl) const {
  if (cache && *cache != of_cache) return false;
  if (op != test_case.op->name || impl != of_impl.name || test_case.op->chain) return false;
  const Params& params = test_case.params;
  const bool holds = std::ranges::all_of(when, [&](const auto& condition) {
    return params.has(condition.first) && condition.second.holds_for(params.at(condition.first));
  });
  return holds && has_forms(*this, test_case);
}

bool TuningEntry::meets(const TuningEntry& other) const {
  if (op != other.op || impl != other.impl) return false;
  if (cache && other.cache && *cache != *other.cache) return false;
  const auto agree = [](const auto& mine, const auto& theirs, auto both) {
    return std::ranges::all_of(mine, [&](const auto& one) {
      const auto found = theirs.find(one.first);
      return found == theirs.end() || both(one.second, found->second);
    });
  };
  return agree(when, other.when,
               [](const TuningCondition& a, const TuningCondition& b) { return a.meets(b); }) &&
         agree(forms, other.forms, std::equal_to<>());
}

const TuningEntry* Tuning::find(const Case& test_case, Cache cache, const Impl& impl) const {
  const auto found = std::ranges::find_if(
      entries, [&](const TuningEntry& entry) { return entry.applies_to(test_case, cache, impl); });
  return found == entries.end() ? nullptr : &*found;
}

bool Tuning::has_op(const std::string& op) const {
  return std::ranges::find(entries, op, &TuningEntry::op) != entries.end();
}

std::string tuning_yaml(const Tuning& tuning) {
  std::string text = fmt::format("device: {}\n", quoted(tuning.device));
  if (!tuning.driver.empty()) text += fmt::format("driver: {}\n", quoted(tuning.driver));
  if (!tuning.version.empty()) text += fmt::format("version: {}\n", quoted(tuning.version));
  text += tuning.entries.empty() ? "entries: []\n" : "entries:\n";
  for (const TuningEntry& entry : tuning.entries) text += entry_yaml(entry);
  return text;
}

}  // namespace assay
