#pragma once

#include "harness/app/context.h"
#include "harness/app/judge/fuzz.h"
#include "harness/app/judge/judged_cases.h"
#include "harness/app/judge/judgement.h"
#include "harness/app/judge/options.h"
#include "harness/app/judge/submission.h"
#include "harness/app/worker.h"
#include "harness/report/record/run_report.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// What the runs of one judgement share. All must outlive them.
struct JudgeRunParts {
  const JudgeOptions& options;
  const Context& context;
  const ParseRun& parse;
  const Terminal& terminal;
  const Submission& submission;
  const JudgedCases& cases;
  const FuzzedCases& fuzzed;
  std::filesystem::path folder;  ///< of what is written
  std::uint64_t secret_seed = 0;
  std::function<bool()> must_stop;
};

/// The runs that a submission is judged by. Each is `assay run` with the baseline as its shaders and the
/// submission as the other version of them: what the harness itself runs on the device is the baseline's.
class JudgeRuns {
 public:
  explicit JudgeRuns(const JudgeRunParts& parts) : parts_(parts) {}

  std::vector<JudgedRow> accuracy() const;
  /// On secret data: cases of the repository, and fuzzed ones.
  std::vector<JudgedRow> secret_and_fuzzed() const;
  std::vector<JudgedRow> performance();
  /// The rows that a stage would have, where it is left out, with the reason; fuzzed ones are not told one by
  /// one.
  std::vector<JudgedRow> left_out(Stage stage, const std::string& why) const;

  /// Whether performance() held times against measured ceilings.
  bool had_ceilings() const { return had_ceilings_; }

 private:
  std::vector<std::string> common_words(const std::string& name) const;
  RunReport run(const std::vector<std::string>& words) const;

  const JudgeRunParts& parts_;
  bool had_ceilings_ = false;
};

}  // namespace assay::app
