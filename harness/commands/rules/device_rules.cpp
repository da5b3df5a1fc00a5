#include "harness/commands/rules/device_rules.h"

#include "harness/base/text.h"
#include "harness/cases/select.h"
#include "harness/device/device_profile.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/report/console/terminal_text.h"
#include "harness/report/record/events.h"
#include "harness/report/record/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace assay::app {
namespace {

using Rows = std::vector<const Record*>;

/// "FAIL (wrong_value) or CRASH"
std::string expected_by(const Expectation& rule) {
  std::vector<std::string> names;
  for (const Status status : rule.statuses) {
    const bool has_metric = status == Status::Fail || status == Status::Mistrusted;
    names.emplace_back(name_of(status));
    if (has_metric && !rule.metrics.empty())
      names.back() += fmt::format(" ({})", fmt::join(rule.metrics, " or "));
  }
  return fmt::format("{}", fmt::join(names, " or "));
}

/// An unexpected pass gets no time, so that it is noticed.
RowEnd unexpected_pass(RowEnd end, const Expectation& rule) {
  end.own_end = OwnEnd{end.status, end.reason};
  end.status = Status::UnexpectedPass;
  end.reason = fmt::format(
      "it passes, but {}:{} expects {} ({}); remove the rule, or narrow it to the rows "
      "that still fail",
      rule.where.file, rule.where.line, expected_by(rule), rule.why());
  end.perf.reset();
  return end;
}

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

/// How a rule's rows ended.
struct Use {
  std::size_t matched = 0;         ///< number of the run's rows that the rule matches
  bool matches_left_out = false;   ///< it matches rows that the run left out
  std::vector<const Record*> own;  ///< matching rows that no earlier rule matches
};

bool was_reached(const Record& record) {
  return record.status != Status::Missing && record.status != Status::Interrupted;
}

bool ran(const Record& record) {
  return was_reached(record) && record.status != Status::Unsupported && record.status != Status::Invalid &&
         record.status != Status::Skipped;
}

class Notes {
 public:
  Notes(const Expectations& expectations, const RunReport& report, const RuleScope& scope)
      : expectations_(expectations), report_(report), device_(own_name(report.run.device)), scope_(scope) {
    for (const Expectation* rule : expectations.of_device(device_)) uses_.emplace_back(rule, Use{});
    for (const Record& record : report.records) credit(record);
    for (const RowInfo& row : scope.left_out) {
      for (auto& [rule, use] : uses_) use.matches_left_out |= rule->matches(words_of(row));
    }
  }

  std::vector<RuleNote> all() const {
    std::vector<RuleNote> notes;
    for (const auto& [rule, use] : uses_) {
      if (auto note = note_of(*rule, use)) notes.push_back(std::move(*note));
    }
    return notes;
  }

 private:
  void credit(const Record& record) {
    const RowWords words = words_of(record.info);
    const Expectation* first = expectations_.find(device_, words);
    for (auto& [rule, use] : uses_) {
      if (rule == first) use.own.push_back(&record);
      if (rule == first || rule->matches(words)) ++use.matched;
    }
  }

  std::optional<RuleNote> note_of(const Expectation& rule, const Use& use) const {
    const bool is_of_this_run = use.matched > 0 || (is_covered(rule) && is_known_in_full(rule, use));
    if (!is_of_this_run) return std::nullopt;
    if (expectations_.is_expired(rule)) {
      return noted(
          rule, "expired",
          fmt::format(
              "it expired after {}: remove it, or check whether it still holds and give it a new date",
              date_text(*rule.expires)));
    }
    if (std::string narrower = narrower_rule(rule, use.own); !narrower.empty())
      return noted(rule, "wide", std::move(narrower));
    const std::string why = why_stale(rule, use);
    if (why.empty() || !is_known_in_full(rule, use)) return std::nullopt;
    const std::string meant = use.matched == 0 ? what_may_be_meant(rule) : "";
    return noted(rule, "stale", why + ": remove it, or correct what it matches" + meant);
  }

  bool is_covered(const Expectation& rule) const {
    return !scope_.is_narrowed || (scope_.covers && scope_.covers(rule));
  }

  /// The end of a sentence about a rule that matches no row.
  std::string what_may_be_meant(const Expectation& rule) const {
    std::vector<std::string_view> ids;
    for (const Record& record : report_.records) ids.push_back(record.info.id);
    for (const RowInfo& row : scope_.left_out) ids.push_back(row.id);
    const auto matches = [&](std::string_view id) { return glob_matches(rule.match, id); };
    const auto found = std::ranges::find_if(ids, matches);
    if (found == ids.end()) return near_ids_text(rule.match, ids);
    return fmt::format("; rows with other params, mode or impl have such an id, such as {}", *found);
  }

  /// Whether the run had every row that the rule matches.
  bool is_known_in_full(const Expectation& rule, const Use& use) const {
    return !use.matches_left_out && (!scope_.has_all_cases || scope_.has_all_cases(rule.where.file));
  }

  static RuleNote noted(const Expectation& rule, const char* state, std::string note) {
    return {.state = state,
            .where = rule.where,
            .match = rule.match,
            .reason = rule.why(),
            .note = std::move(note)};
  }

  /// Why a rule is stale; empty if it is not.
  static std::string why_stale(const Expectation& rule, const Use& use) {
    if (use.matched == 0) return "it matches no row of this run";
    if (use.own.empty()) return "earlier rules match every row that it matches";
    if (!std::ranges::all_of(use.own, [](const Record* row) { return was_reached(*row); })) return "";
    const bool skips = rule.kind == Expectation::Kind::Skip;
    const auto is_used = [&](const Record* row) {
      return skips ? row->status == Status::Skipped : ran(*row);
    };
    if (std::ranges::any_of(use.own, is_used)) return "";
    const Record& example = *use.own.front();
    return fmt::format("{}, as {} is {} ({})", skips ? "it left out no row" : "none of its rows ran",
                       example.info.id, name_of(example.status), example.reason);
  }

  const Expectations& expectations_;
  const RunReport& report_;
  std::string device_;
  const RuleScope& scope_;
  std::vector<std::pair<const Expectation*, Use>> uses_;
};

}  // namespace

std::string_view failure_metric(Status status, const AccuracyResult* accuracy,
                                std::int64_t validation_messages) {
  if (status != Status::Fail && status != Status::Mistrusted) return "";
  if (accuracy == nullptr) return no_answer;
  if (!accuracy->metric.empty()) return accuracy->metric;
  return validation_messages > 0 ? layer_messages : later_run;
}

RowEnd as_expected(RowEnd end, const Expectation& rule, const AccuracyResult* accuracy) {
  if (rule.kind != Expectation::Kind::Fail) return end;
  if (end.status == Status::Pass) return unexpected_pass(std::move(end), rule);
  if (!rule.expects(end.status, failure_metric(end.status, accuracy, end.validation_messages))) return end;
  end.own_end = OwnEnd{end.status, end.reason};
  end.reason = rule.statuses.size() == 1 && end.status == Status::Fail
                   ? fmt::format("expected ({}): {}", rule.why(), end.reason)
                   : fmt::format("expected ({}): {}: {}", rule.why(), name_of(end.status), end.reason);
  end.status = Status::ExpectedFail;
  return end;
}

void expect_again(RunReport& report, const Expectations& expectations) {
  for (Record& record : report.records) {
    RowEnd end = end_of(record);
    if (end.own_end) {
      end.status = end.own_end->status;
      end.reason = end.own_end->reason;
      end.own_end.reset();
    }
    const Expectation* rule = expectations.find(own_name(report.run.device), words_of(record.info));
    if (rule != nullptr)
      end = as_expected(std::move(end), *rule, record.accuracy ? &*record.accuracy : nullptr);
    record.status = end.status;
    record.reason = std::move(end.reason);
    record.own_end = std::move(end.own_end);
    record.perf = std::move(end.perf);
  }
}

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

std::string expectations_lines(std::span<const std::filesystem::path> files) {
  if (files.empty()) {
    return "expectations: none; searched every folder 'expectations' below the case folders, and the nearest "
           "one next to or above them\n";
  }
  std::string lines;
  for (const std::filesystem::path& file : files) {
    std::error_code error;
    const std::filesystem::path from_here = std::filesystem::relative(file, error);
    const bool is_below = !error && !from_here.empty() && *from_here.begin() != "..";
    lines += fmt::format("expectations: {}\n", printable((is_below ? from_here : file).string()));
  }
  return lines;
}

std::string unused_files_lines(const Expectations& expectations, std::span<const std::string> device_names) {
  std::string lines;
  for (const auto& [file, device] : expectations.files_without_device(device_names)) {
    lines += fmt::format("expectations: no device of this run is meant by {}: '{}' is not in {}\n",
                         printable(file), printable(device),
                         printable(fmt::format("'{}'", fmt::join(device_names, "', '"))));
  }
  return lines;
}

bool rule_covers(const CaseOptions& options, const Expectation& rule) {
  if (options.replays || !options.values.empty()) return false;  // other rows than the rule's
  const auto any_matches = [](const std::vector<std::string>& patterns, std::string_view name) {
    return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
             return glob_matches(pattern, name) || glob_matches(name, pattern);
           });
  };
  const std::string_view match = rule.match;
  const std::string_view impl = rule.impl.empty() ? match.substr(match.rfind('/') + 1) : rule.impl;
  const bool has_mode =
      options.mode.empty() || options.mode == "both" || rule.mode.empty() || options.mode == rule.mode;
  return !options.nodes && has_mode && (options.filter.empty() || filter_matches(options.filter, match)) &&
         any_matches(options.ops, match.substr(0, match.find('/'))) && any_matches(options.impls, impl);
}

std::vector<RowInfo> rows_left_out(std::span<const Case> cases, const RunReport& report) {
  std::set<std::pair<std::string_view, std::string_view>> planned;
  for (const Record& record : report.records) planned.emplace(record.info.id, record.info.mode);
  std::vector<RowInfo> left_out;
  for (const Case& test_case : cases) {
    const Case* const alone[] = {&test_case};
    for (const PlannedGroup& group : plan_rows(alone, std::nullopt)) {
      for (const PlannedRow& row : group) {
        RowInfo info = row_info(row, {});
        if (!planned.contains({info.id, info.mode})) left_out.push_back(std::move(info));
      }
    }
  }
  return left_out;
}

std::vector<RuleNote> rule_notes(const Expectations& expectations, const RunReport& report,
                                 const RuleScope& scope) {
  return Notes(expectations, report, scope).all();
}

}  // namespace assay::app
