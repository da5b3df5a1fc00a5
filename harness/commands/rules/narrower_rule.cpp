#include "harness/commands/rules/narrower_rule.h"

#include "harness/base/words.h"
#include "harness/cases/select.h"
#include "harness/commands/rules/expected_end.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/report/console/text_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::app {
namespace {

using Rows = std::vector<const Record*>;

/// How a row failed by itself.
std::string metric_of(const Record& row) {
  const Status status = row.own_end ? row.own_end->status : Status::Fail;
  return std::string(
      failure_metric(status, row.accuracy ? &*row.accuracy : nullptr, row.validation_messages));
}

/// The longest text with which all ids begin or (from the other end) end.
std::size_t common_length(const Rows& rows, bool at_end) {
  const std::string& first = rows.front()->info.id;
  std::size_t length = first.size();
  for (const Record* row : rows) {
    const std::string& id = row->info.id;
    const auto same =
        at_end ? std::mismatch(first.rbegin(), first.rend(), id.rbegin(), id.rend()).first - first.rbegin()
               : std::mismatch(first.begin(), first.end(), id.begin(), id.end()).first - first.begin();
    length = std::min(length, static_cast<std::size_t>(same));
  }
  return length;
}

/// A glob of all these ids: their common beginning and end.
std::string common_glob(const Rows& rows) {
  const std::string& first = rows.front()->info.id;
  const std::size_t begin = common_length(rows, false);
  if (begin == first.size() && rows.size() == 1) return first;
  const std::size_t end = std::min(common_length(rows, true), first.size() - begin);
  return first.substr(0, begin) + "*" + first.substr(first.size() - end);
}

/// A key that makes a rule match all rows that fail and none that passes, as it is written in a rule; empty
/// if a single key cannot.
std::string separating_key(const Rows& failing, const Rows& passing) {
  const RowInfo& first = failing.front()->info;
  const auto separates = [&](auto has) {
    return std::ranges::all_of(failing, has) && std::ranges::none_of(passing, has);
  };
  if (separates([&](const Record* row) { return row->info.mode == first.mode; }))
    return "mode: " + first.mode;
  if (separates([&](const Record* row) { return row->info.impl == first.impl; }))
    return "impl: " + first.impl;
  for (const std::string& pair : words_in(first.params)) {
    const auto has = [&](const Record* row) {
      const std::vector<std::string> pairs = words_in(row->info.params);
      return std::ranges::find(pairs, pair) != pairs.end();
    };
    const std::size_t equals = pair.find('=');
    if (equals != std::string::npos && separates(has))
      return fmt::format("params: {{{}: {}}}", pair.substr(0, equals), pair.substr(equals + 1));
  }
  const std::string glob = common_glob(failing);
  const auto has = [&](const Record* row) { return glob_matches(glob, row->info.id); };
  return separates(has) ? fmt::format("match: \"{}\"", glob) : "";
}

std::string narrowed_to_failing(const Rows& failing, const Rows& passing) {
  const std::string found =
      fmt::format("{} of its {} pass, such as {}", passing.size(),
                  counted_rows(failing.size() + passing.size()), passing.front()->info.id);
  if (const std::string key = separating_key(failing, passing); !key.empty())
    return fmt::format("{}: narrow it with `{}`, which only the rows that fail have", found, key);
  return fmt::format("{}: narrow it: one rule for each row that fails, such as `match: \"{}\"`", found,
                     failing.front()->info.id);
}

/// One fault may give several kinds of wrong answers, but it is another fault if there is no answer, or a
/// right one.
std::string narrowed_to_metric(const Rows& failing) {
  std::set<std::string> wrong;
  std::map<std::string, Rows> others;
  for (const Record* row : failing) {
    const std::string metric = metric_of(*row);
    const bool is_other = metric == no_answer || metric == layer_messages || metric == later_run;
    is_other ? others[metric].push_back(row) : void(wrong.insert(metric));
  }
  if (others.empty() || wrong.empty()) return "";
  std::string text = "its rows fail in different ways:";
  for (const auto& [metric, rows] : others)
    text += fmt::format(" {} by {}, such as {};", counted_rows(rows.size()), metric, rows.front()->info.id);
  return text + fmt::format(" narrow it with `metric: [{}]`, as the other rows fail", fmt::join(wrong, ", "));
}

}  // namespace

std::string narrower_rule(const Expectation& rule, std::span<const Record* const> rows) {
  if (rule.kind != Expectation::Kind::Fail) return "";
  Rows failing, passing;
  for (const Record* row : rows) {
    if (row->status == Status::ExpectedFail) failing.push_back(row);
    if (row->status == Status::UnexpectedPass) passing.push_back(row);
  }
  if (failing.empty()) return "";  // it is wrong, not too wide
  if (!passing.empty()) return narrowed_to_failing(failing, passing);
  const bool may_be_any_failure = rule.metrics.empty() && rule.statuses == std::vector{Status::Fail};
  return may_be_any_failure ? narrowed_to_metric(failing) : "";
}

}  // namespace assay::app
