#pragma once

#include "harness/base/statistics.h"
#include "harness/report/record/block.h"
#include "harness/report/record/record.h"
#include "harness/report/record/run_listener.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace assay {

// What a report says about rows that are compared with each other. It is computed from each row's own events,
// so that it does not matter which process ran a row, and when.

/// The rows of a plan by group: the rows of a group share their data.
class RowGroups {
 public:
  void add(RowIndex row, const RowInfo& info);
  /// The rows of this row's group, in the plan's order; none for a row without a group.
  std::span<const RowIndex> with(const RowInfo& info) const;

 private:
  std::unordered_map<std::string, std::vector<RowIndex>> rows_;
};

/// The values of RowInfo::tuned without the line of the entry, which a comment in the file moves:
/// "local_size=64".
std::string tuned_values(std::string_view tuned);

/// All values of RowInfo::tune and RowInfo::tuned, sorted: two rows with the same ones have the same
/// tunables, whoever set them.
std::string all_tunables(std::string_view tune, std::string_view tuned);

/// Whether the plan wants the row compared, even if it has no baseline.
bool is_compared(const RowInfo& info);

/// The key of the row that this one is compared with.
RowKey baseline_key(const RowInfo& info);

/// A row's time divided by its baseline's, from the blocks of the rounds that both took part in; absent if
/// there is no such round.
std::optional<Ratio> ratio_in_rounds(std::span<const Block> row, std::span<const Block> baseline);

/// The comparison of a row that is_compared() and has ended with its baseline (null: the report has no such
/// row), or the reason why there is none. Only baselines that passed are used.
Comparison comparison_of(const Record& row, const Record* baseline, const std::optional<Ratio>& ratio);

/// A row that is to be compared, by its index among all that were planned.
struct ComparedPair {
  RowIndex row = 0;
  std::optional<RowIndex> baseline;  ///< absent: the plan has no such row
  std::optional<Ratio> ratio;        ///< see ratio_in_rounds
};

/// Writes the comparisons of these rows into the records of all rows.
void note_comparisons(std::span<Record> records, std::span<const ComparedPair> pairs);

/// The impls that `auto` could have chosen: the best times of rows with other impls on the same data, in the
/// same forms and with the same cache.
class Rivals {
 public:
  /// Adds a record. Rows without a time, rows of impl auto and rows without a group are no rivals and are
  /// ignored.
  void add(const Record& record);
  /// How much longer a row of impl auto took than its best rival, in percent; absent without rivals, and for
  /// every other row.
  std::optional<double> regret_pct(const Record& record) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, bool>;  // group, cache, forms, versus
  static Key key_of(const RowInfo& info);

  std::map<Key, double> best_us_;
};

/// The times of the impls that a case names, on the same data, in the same forms, with the same cache and
/// shaders. Impl `auto` does not count, as it stands for one of them.
class ImplTimes {
 public:
  /// Adds a record. Rows that did not pass and rows without a group are ignored.
  void add(const Record& record);
  /// Writes into the record how its time compares with the slowest of these impls; an impl with several
  /// points of `tune` counts with its fastest. Writes nothing if the case names only one impl.
  void note_ratio(Record& record) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, bool>;  // group, cache, forms, versus
  static Key key_of(const RowInfo& info);

  std::map<Key, std::map<std::string, double>> best_us_;  ///< by impl
};

/// Writes the ratios to the slowest impl into the records of a report.
void note_ratios(std::span<Record> records);

/// Whether the record should have a regret and has none yet.
bool lacks_regret(const Record& record);

/// Writes the regrets into the records for which lacks_regret() holds.
void note_regrets(std::span<Record> records);

}  // namespace assay
