#include "harness/commands/rules/rule_notes.h"

#include "harness/base/text.h"
#include "harness/cases/near_ids.h"
#include "harness/cases/select.h"
#include "harness/commands/rules/narrower_rule.h"
#include "harness/engine/run/planned_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

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
      : expectations_(expectations), report_(report), device_(report.run.device.name), scope_(scope) {
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
  const std::string& device_;
  const RuleScope& scope_;
  std::vector<std::pair<const Expectation*, Use>> uses_;
};

}  // namespace

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
