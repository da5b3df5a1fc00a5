#pragma once

#include "harness/base/statistics.h"
#include "harness/report/record/events.h"
#include "harness/report/record/row_key.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace assay {

// What a report says of rows that are held against each other. It is computed from what every row told alone,
// so that it does not matter which process ran a row, and when.

/// Which rows of a plan share their data.
class RowGroups {
 public:
  void add(RowIndex row, const RowInfo& info);
  /// In the plan's order. None for a row of an older journal, which knows no groups.
  std::span<const RowIndex> with(const RowInfo& info) const;

 private:
  std::unordered_map<std::string, std::vector<RowIndex>> rows_;
};

/// Whether the plan wants the row compared, be it that it has no baseline.
bool is_compared(const RowInfo& info);

/// The key of the row that this one is compared with.
RowKey baseline_key(const RowInfo& info);

/// The time of a row over that of its baseline, from the blocks of the rounds that both took part in; absent
/// where there is no such round.
std::optional<Ratio> ratio_in_rounds(std::span<const Block> row, std::span<const Block> baseline);

/// How a row that is_compared() and has ended compares with its baseline (null: the report has no such row),
/// or why it does not. Only baselines that passed are good for that.
Comparison comparison_of(const Record& row, const Record* baseline, const std::optional<Ratio>& ratio);

/// A row that is to be compared, by its index among all that were planned.
struct ComparedPair {
  RowIndex row = 0;
  std::optional<RowIndex> baseline;  ///< absent: the plan has no such row
  std::optional<Ratio> ratio;        ///< see ratio_in_rounds
};

/// Writes the comparisons of these rows into the records of all rows.
void note_comparisons(std::span<Record> records, std::span<const ComparedPair> pairs);

/// What is known of the impls that `auto` could have chosen: the best times of rows of other impls on the
/// same data, in the same forms and with the same cache.
class Rivals {
 public:
  /// Rows without a time, those of impl auto and those of no known group are no rivals.
  void add(const Record& record);
  /// How much longer a row of impl auto took than its best rival, in percent; absent without rivals, and for
  /// every other row.
  std::optional<double> regret_pct(const Record& record) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // group, cache, forms
  static Key key_of(const RowInfo& info);

  std::map<Key, double> best_us_;
};

/// The times of the impls that a case names, on the same data, in the same forms, with the same cache and
/// shaders. Impl `auto` is none of them: it stands for one.
class ImplTimes {
 public:
  /// Rows that did not pass and those of no known group tell nothing.
  void add(const Record& record);
  /// Writes how the row's time compares with the slowest of these impls; of an impl with several points of
  /// `tune` the fastest counts. Nothing where the case names one impl alone.
  void note_ratio(Record& record) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, bool>;  // group, cache, forms, versus
  static Key key_of(const RowInfo& info);

  std::map<Key, std::map<std::string, double>> best_us_;  ///< by impl
};

/// Writes the ratios to the slowest impl into the records of a report.
void note_ratios(std::span<Record> records);

/// Whether the record is to tell a regret and does not yet.
bool lacks_regret(const Record& record);

/// Writes the regrets into the records that lack them.
void note_regrets(std::span<Record> records);

}  // namespace assay
