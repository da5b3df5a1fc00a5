#pragma once

#include "harness/cases/case.h"
#include "harness/commands/judge/options.h"
#include "harness/commands/judge/submission.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// The repository's cases that judge a submission.
struct JudgedCases {
  std::vector<const Case*> accuracy;     ///< cases drawn for accuracy
  std::vector<const Case*> secret;       ///< those of `accuracy` whose data depend on a seed
  std::vector<const Case*> performance;  ///< cases drawn for performance
  std::vector<const Case*> baselines;    ///< with --baseline-impl: the baselines of `performance`
  std::vector<std::string> ops;          ///< selected ops whose SPIR-V the submission changes, sorted
  std::vector<const Case*> mattering;    ///< all selected cases of `ops` that use a file of the submission
  std::size_t all = 0;
  std::size_t selected = 0;                         ///< number selected by op or filter
  std::size_t accuracy_of = 0, performance_of = 0;  ///< numbers of cases from which these were drawn
};

/// Chooses the cases that `options.ops` and `options.filter` select and whose SPIR-V the submission changes,
/// and draws `options.rows` per mode with `draw_seed`: one of each op, even if these are more, then one of
/// each case name before a second one of the same. Cases whose work cannot be computed are left out. Without
/// a filter, only from tiers smoke and ci, and without rows that would take long on the device unless their
/// op has no others. Throws Error(Usage) with the reason if nothing is left, unless that is an unknown work,
/// and JudgementStopped as `use` does.
JudgedCases choose_judged_cases(std::span<const Case> cases, const JudgeOptions& options, ShaderUse& use,
                                const Submission& submission, std::uint64_t draw_seed);

}  // namespace assay::app
