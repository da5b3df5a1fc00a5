#pragma once

#include "harness/app/judge/finding.h"
#include "harness/base/statistics.h"
#include "harness/base/status.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::app {

/// What a row is judged by.
enum class Stage : std::uint8_t {
  Accuracy,     ///< a case of the repository on its own data
  Secret,       ///< the same on data that nobody can know
  Fuzz,         ///< a shape that no case has, on such data
  Performance,  ///< a timed case, on its own data and on such
};

std::string_view name_of(Stage stage);  ///< "accuracy", "secret", "fuzz", "performance"

struct JudgedRow {
  Stage stage = Stage::Accuracy;
  std::string id;
  std::string op, impl, shape, forms;
  Status status = Status::Missing;
  std::optional<bool> correct;  ///< absent: the row proves neither
  bool trusted = true;          ///< nothing of it speaks for a cheat
  bool incomplete = false;      ///< it should have been run or timed, and was not
  std::vector<Finding> reasons;
  std::optional<double> median_us, baseline_us;
  std::optional<Ratio> ratio;  ///< time over the baseline's
  std::string repro;
};

enum class Verdict : std::uint8_t {
  Trusted,     ///< right in all rows, and timed without anything that speaks against it
  Distrusted,  ///< it does what only cheats do, or may
  Wrong,       ///< a row is wrong, crashed, hung or did not compile
  Incomplete,  ///< nothing speaks against it, but not all that was to be shown was
};

std::string_view name_of(Verdict verdict);  ///< "trusted", ...

/// Time over the baseline's, of all timed rows: the geometric mean of their ratios. Its ends are those of the
/// mean of independent logarithms: their distances to the rows' own ends, added as squares.
struct OverallRatio {
  double geometric_mean = 0, low = 0, high = 0;
  std::size_t rows = 0;
};

/// All that was found out about a submission.
struct Judgement {
  std::vector<Finding> findings;  ///< that are of no row
  std::vector<JudgedRow> rows;
  std::vector<Finding> missing;  ///< what was not shown, and is of no row

  bool correct() const;  ///< every row that can be judged is right, and there is one
  bool is_complete() const;
  Verdict verdict() const;
  bool is_trusted() const { return verdict() == Verdict::Trusted; }
  /// Only of a trusted submission: a wrong kernel has no time.
  std::optional<OverallRatio> ratio() const;
};

/// Adds to `missing` that a stage which was to be shown has no row that is right.
void note_empty_stages(Judgement& judgement, std::span<const Stage> stages);

/// Says of each row that is wrong on secret data while the same case is right on its own: that is what
/// answers that were built in look like.
void note_wrong_on_secret_data(Judgement& judgement);

/// How a row of the submission ended, in a judge's words. `baseline`: the record of the row that it is held
/// against; null: it has none.
JudgedRow judged_row(Stage stage, const Record& record, const Record* baseline = nullptr);

/// Whether the word speaks for a cheat, not only for a mistake.
bool is_distrust(std::string_view word);

}  // namespace assay::app
