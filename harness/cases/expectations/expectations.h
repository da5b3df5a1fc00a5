#pragma once

#include "harness/base/error.h"
#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/cases/yaml/yaml_tree.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// A row as expectations see it, with the texts of its reports.
struct RowWords {
  std::string_view id;
  std::string_view case_id;  ///< the case's id, without the row's "/cold" and "/versus"; empty: equal to `id`
  std::string_view params;   ///< canonical "name=value" pairs
  std::string_view mode;     ///< "accu" or "perf"
  std::string_view impl;
};

/// The kinds of failure that a rule may expect in `metric`: what reports call the metric of a wrong answer or
/// of one that proves little, and these kinds of FAIL that have none there.
inline constexpr std::string_view no_answer = "no_answer";  ///< no answer was checked: no shader was compiled
inline constexpr std::string_view layer_messages = "layer_messages";  ///< right, with messages of the layer
inline constexpr std::string_view later_run = "later_run";  ///< right, but not on secret data or while timed
std::span<const std::string_view> failure_metrics();

/// A rule that says what is known in advance about rows on a device.
struct Expectation {
  enum class Kind : std::uint8_t {
    Fail,  ///< the rows run; ending in one of `statuses` is EXPECTED_FAIL, passing is UNEXPECTED_PASS
    Skip,  ///< the rows do not run: SKIPPED
  };

  std::string match;  ///< a glob over the ids of rows and of their cases
  std::vector<std::pair<std::string, std::string>>
      params;        ///< the row must have all these values, written as in reports
  std::string mode;  ///< "accu" or "perf"; empty: both
  std::string impl;  ///< a glob; empty: every impl
  Kind kind = Kind::Fail;
  std::vector<Status> statuses{Status::Fail};  ///< for Kind::Fail: the expected statuses
  /// Of FAIL and MISTRUSTED, only these kinds are expected (failure_metrics); none: every kind.
  std::vector<std::string> metrics;
  std::string reason;
  std::string link;                              ///< where the bug is discussed, or empty
  std::optional<std::chrono::sys_days> expires;  ///< the last day on which the rule applies, UTC
  SourceLocation where;

  bool matches(const RowWords& row) const;
  /// Whether the rule expects that a row ends so; `metric` is one of failure_metrics(), or empty.
  bool expects(Status status, std::string_view metric) const;
  /// Returns "REASON" or "REASON, LINK".
  std::string why() const;
};

/// Returns the current day in UTC.
std::chrono::sys_days today_utc();

/// Returns text such as "2026-01-31".
std::string date_text(std::chrono::sys_days day);

/// Parses text in the form of date_text(); nothing if it is not a valid day.
std::optional<std::chrono::sys_days> parse_date(std::string_view text);

}  // namespace assay

namespace assay::cases {

/// Returns the entry with that key. Throws Problem at `caret` if there is none.
const Node::Entry& required(const Node& map, const std::string& key, const Node& caret);

/// Returns the entry's text. Throws Problem if it is empty.
const std::string& filled_text(const Node::Entry& entry);

/// Reads one rule of an expectation file. Throws Problem.
Expectation read_expectation(const Node& node);

}  // namespace assay::cases

namespace assay {

/// The rules of cases/expectations/*.yaml. They can be queried without a device or an engine.
class Expectations {
 public:
  /// Ignores rules that expired before today, or before the given day.
  Expectations() : Expectations(today_utc()) {}
  explicit Expectations(std::chrono::sys_days today) : today_(today) {}

  /// Returns the first rule, in the order of files and rules in them, that has not expired and matches the
  /// device and the row. Null if there is none.
  const Expectation* find(std::string_view device_name, const RowWords& row) const;

  /// Returns every rule of the device in the same order, expired or not.
  std::vector<const Expectation*> of_device(std::string_view device_name) const;

  /// Returns the files whose `device` matches none of these names although it has rules, each with the text
  /// of that `device`.
  std::vector<std::pair<std::string, std::string>> files_without_device(
      std::span<const std::string> device_names) const;

  bool is_expired(const Expectation& rule) const { return rule.expires && *rule.expires < today_; }

  struct Device {
    Pattern name;  ///< searched in the device's name
    std::vector<Expectation> rules;
    std::string text;  ///< of `name`, for messages
  };
  void add(Device device) { devices_.push_back(std::move(device)); }

 private:
  std::chrono::sys_days today_;
  std::vector<Device> devices_;
};

struct ExpectationsResult {
  Expectations expectations;
  std::vector<Diagnostic> errors;
};

/// Returns the expectation files for case files and directories, sorted and without duplicates: *.yaml in
/// every folder named `expectations` below a directory, and in the nearest one next to or above each path.
std::vector<std::filesystem::path> find_expectations(std::span<const std::filesystem::path> case_paths);

/// Returns whether `case_files` include every case file of the folder that the expectation file is about,
/// which is the parent of its folder `expectations`. Only then can a rule be reported as matching no case.
bool has_all_cases_of(const std::filesystem::path& expectation_file,
                      std::span<const std::filesystem::path> case_files);

/// Reads expectation files, as strictly as load_cases. A bad rule does not hide other errors.
ExpectationsResult load_expectations(std::span<const std::filesystem::path> files,
                                     std::chrono::sys_days today = today_utc());

}  // namespace assay
