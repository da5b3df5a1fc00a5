#pragma once

#include "harness/commands/context.h"
#include "harness/commands/judge/judged_cases.h"
#include "harness/commands/judge/judgement.h"
#include "harness/commands/judge/options.h"
#include "harness/commands/judge/submission.h"
#include "harness/commands/points/written_cases.h"
#include "harness/commands/run/workers/worker.h"
#include "harness/report/record/record.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// The parts that the runs of one judgement share. All must outlive the runs.
struct JudgeRunParts {
  const JudgeOptions& options;
  const Context& context;
  const Terminal& terminal;
  const Submission& submission;
  const JudgedCases& cases;
  const DrawnCases& fuzzed;
  const DrawnCases& drawn;       ///< timed points
  std::filesystem::path folder;  ///< output folder of the judgement
  std::uint64_t secret_seed = 0;
  std::function<std::string()> why_stopped;  ///< why nothing more may run; empty: it may
};

/// The runs that judge a submission. Each is an `assay run` with the baseline as its shaders and the
/// submission as the other version: the harness's own kernels are the baseline's. The rows of a run that must
/// stop before it has any are left out.
class JudgeRuns {
 public:
  explicit JudgeRuns(const JudgeRunParts& parts) : parts_(parts) {}

  /// Each case must be right twice: as submissions are judged, and as in a plain `assay run`, where workgroup
  /// memory and what lies past the end of a buffer are not zero: what relies on that is wrong.
  std::vector<JudgedRow> accuracy() const;
  /// Judges cases of the repository and fuzzed ones on secret data.
  std::vector<JudgedRow> secret_and_fuzzed() const;
  /// Times cases of the repository and drawn points in the same rounds.
  std::vector<JudgedRow> performance();
  /// The rows of a stage that is left out, with the reason; with drawn points after those of Performance.
  std::vector<JudgedRow> left_out(Stage stage, const std::string& why) const;

  /// Whether performance() compared times with measured ceilings.
  bool had_ceilings() const { return had_ceilings_; }

 private:
  std::vector<std::string> common_words(const std::string& name) const;
  std::vector<JudgedRow> accuracy_rows(std::vector<std::string> words) const;
  std::optional<RunReport> run(const std::vector<std::string>& words) const;

  const JudgeRunParts& parts_;
  bool had_ceilings_ = false;
};

}  // namespace assay::app
