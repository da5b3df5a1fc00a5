#pragma once

#include "harness/app/judge/options.h"
#include "harness/app/judge/shader_use.h"
#include "harness/cases/case.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// The rows of the repository that a submission is judged by.
struct JudgedCases {
  std::vector<const Case*> accuracy;     ///< drawn
  std::vector<const Case*> secret;       ///< of these, those whose data a seed decides
  std::vector<const Case*> performance;  ///< drawn
  std::vector<const Case*> baselines;    ///< with --baseline-impl: what these are held against
  std::vector<const Case*>
      mattering;  ///< all cases that the submission matters for: fuzzed shapes come of them
  std::size_t all = 0;
  std::size_t selected = 0;                         ///< by op or filter
  std::size_t accuracy_of = 0, performance_of = 0;  ///< out of how many was drawn
};

/// Chooses by `options.ops`, `options.filter` and what the submission matters for, and draws at most
/// `options.rows` of either mode by `draw_seed`, from each name of a case before a second one of the same.
/// Without a filter: of tiers smoke and ci, and no rows that would take long on the device, unless there are
/// no others. Throws Error(Usage) where nothing is left, and says why.
JudgedCases choose_judged_cases(std::span<const Case> cases, const JudgeOptions& options, ShaderUse& use,
                                const Submission& submission, std::uint64_t draw_seed);

/// Elements of all tensors of the case.
std::int64_t elements_of(const Case& test_case);

}  // namespace assay::app
