#pragma once

#include "harness/base/statistics.h"
#include "harness/base/status.h"
#include "harness/cases/case.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::app {

/// Evidence against a submission, or a reason why it could not be judged in full.
struct Finding {
  std::string word;  ///< stable, for programs: "reads_output" (docs/judge.md lists them)
  std::string text;  ///< a sentence for people
  friend bool operator==(const Finding&, const Finding&) = default;
};

/// The stage of a judgement to which a row belongs.
enum class Stage : std::uint8_t {
  Accuracy,     ///< a case of the repository on its own data
  Secret,       ///< a case of the repository on secret data
  Fuzz,         ///< a shape that no case has, on secret data
  Performance,  ///< a timed case of the repository, on its own data and on secret data
  Drawn,        ///< a timed point near one of the repository, which the submission could not know
};

std::string_view name_of(Stage stage);  ///< "accuracy", "secret", "fuzz", "performance", "drawn"

struct JudgedRow {
  Stage stage = Stage::Accuracy;
  std::string id;
  std::string op, impl, shape, forms;
  Status status = Status::Missing;
  std::optional<bool> correct;  ///< absent: the row shows neither
  bool trusted = true;          ///< false: evidence of a cheat
  bool incomplete = false;      ///< it should have been run or timed, but was not
  std::vector<Finding> reasons;
  std::optional<double> median_us, baseline_us;
  std::optional<Ratio> ratio;  ///< time / the baseline's
  std::string repro;
};

enum class Verdict : std::uint8_t {
  Trusted,     ///< right in all rows, and timed without any evidence against it
  Distrusted,  ///< it does, or may do, what only cheats do
  Wrong,       ///< a row is wrong, crashed, hung or did not compile
  Incomplete,  ///< no evidence against it, but not everything could be shown
};

std::string_view name_of(Verdict verdict);  ///< "trusted", ...

/// Time divided by the baseline's over all timed rows: the geometric mean of their ratios. Its interval is
/// that of a mean of independent logarithms: the distances to the ends of the rows' intervals, added as
/// squares.
struct OverallRatio {
  double geometric_mean = 0, low = 0, high = 0;
  std::size_t rows = 0;

  /// Whether the interval is less than a tenth of the mean wide. A wider one shows no more than its ends.
  bool is_narrow() const { return high - low < 0.1 * geometric_mean; }
};

/// All results about a submission.
struct Judgement {
  std::vector<Finding> findings;  ///< findings that belong to no row
  std::vector<JudgedRow> rows;
  std::vector<Finding> missing;  ///< results that are missing and belong to no row

  bool correct() const;  ///< every row that could be judged is right, and there is at least one
  bool is_complete() const;
  Verdict verdict() const;
  bool is_trusted() const { return verdict() == Verdict::Trusted; }
  /// Of the drawn points; only for a trusted submission, as a wrong kernel gets no time.
  std::optional<OverallRatio> ratio() const;
  /// The same of the repository's timed cases, which the submission may know.
  std::optional<OverallRatio> public_ratio() const;
};

/// Adds to `missing` each of these stages in which an op of `ops` has no row with a result.
void note_empty_stages(Judgement& judgement, std::span<const Stage> stages, std::span<const std::string> ops);

/// Adds to `missing` each op that updates an output in place: its programs are timed alone, with their data
/// restored before, which a program may notice.
void note_updated_in_place(Judgement& judgement, std::span<const Case* const> cases);

/// Keeps right what is also right in the row of the same id of `plain`, a run without what submissions are
/// judged with (docs/judge.md): else that row takes its place, and without one it is incomplete.
void need_plain_rows(std::vector<JudgedRow>& rows, std::span<const JudgedRow> plain);

/// Marks each row that is wrong on secret data while the same case is right on its own data: such a row
/// suggests hard-coded answers.
void note_wrong_on_secret_data(Judgement& judgement);

/// Adds a finding if the submission is much faster, compared with the baseline, where it may know the point:
/// if the intervals of the public and of the drawn ratio are apart, and the drawn mean is at least 1.5 times
/// the public one.
void note_faster_at_public_points(Judgement& judgement);

/// The result of a submission's row. `baseline`: the record of the row that it is compared with; null: there
/// is none.
JudgedRow judged_row(Stage stage, const Record& record, const Record* baseline = nullptr);

/// Whether the word is evidence of a cheat, not only of a mistake.
bool is_distrust(std::string_view word);

}  // namespace assay::app
