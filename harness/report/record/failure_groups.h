#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Traits of a row that other rows of its op may not share, in words that follow "with": "y in a buffer",
/// "impl fused". Those most likely to matter come first.
std::vector<std::string> traits_of(const RowInfo& row);

/// A failure in words.
struct FailureWords {
  /// The group that it belongs to: the status, and the diagnosis, else the metric, else the reason without
  /// its numbers. "FAIL zero point"
  std::string group;
  std::string kind;   ///< "zero point", "wrong value"; the reason, if the row was not judged
  std::string story;  ///< a sentence about this row that `kind` does not say; may be empty
};

/// A failed record in words; nothing for a record that did not fail.
std::optional<FailureWords> failure_of(const Record& record);

/// Whether a row of an earlier run failed, known to a rule or not: when a rule ends, its failures are not
/// new.
bool has_failed(Status status);

/// A row as the grouping of failures sees it.
struct RowOutcome {
  const RowInfo* info = nullptr;
  Status status = Status::Missing;
  std::optional<FailureWords> failure;  ///< absent: it belongs to no group
  bool is_new = false;                  ///< it did not fail in the run that this one is compared with
};
RowOutcome outcome_of(const Record& record);

/// Failures of one kind, and the traits that they share and passing rows do not.
struct FailureGroup {
  std::string name;               ///< FailureWords::group of its rows
  std::string kind;               ///< FailureWords::kind of its first row
  Status status = Status::Fail;   ///< of all its rows
  std::vector<std::size_t> rows;  ///< places among the rows that were grouped, in their order
  std::size_t is_new = 0;         ///< number of rows whose failure is new
  std::size_t example_row = 0;    ///< its first row, of those with new failures if there are any
  std::string example;            ///< that row: "such as shuffle/small/fused (perf)"
  std::string story;              ///< the example's
  std::string op;                 ///< the op of all rows; empty: they have several
  /// "with y in a buffer and impl fused", traits that all of them have; if other traits are those of exactly
  /// the same rows, some of them in parentheses. Empty: nothing distinguishes the rows, or too few rows could
  /// have shown that something else does.
  std::string shared;
  std::size_t alike = 0;    ///< judged rows of these ops that have the shared traits, failures included
  std::size_t without = 0;  ///< judged rows of these ops without these traits; none is in the group
};

/// The failures among rows, grouped: groups with new failures first, then the largest, MISSING rows last.
std::vector<FailureGroup> failure_groups(std::span<const RowOutcome> rows);
/// The failures of a report, none of them new.
std::vector<FailureGroup> failure_groups(const RunReport& report);

/// "202 of 202 rows of q8ta_clone with y in a buffer, none of 119 without: never written"
std::string group_text(const FailureGroup& group);

/// The option of `assay show` that lists the rows of a group, quoted for a shell: "--group 'failure=FAIL zero
/// point'". A long name is cut, and ends in `*`.
std::string listing_option(const FailureGroup& group);

}  // namespace assay
