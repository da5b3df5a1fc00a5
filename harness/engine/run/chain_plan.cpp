#include "harness/engine/run/chain_plan.h"

#include "harness/base/hash.h"

#include <fmt/format.h>

#include <string>

namespace assay {
namespace {

ChainStep step_of(const chain::PlannedChain& planned, const chain::Step& step) {
  ChainStep made{
      .name = step.name, .op = step.op->name, .impl = step.impl->name, .is_transition = step.is_transition};
  for (std::size_t i = 0; i < step.specs.size(); ++i) {
    if (step.specs[i].constant) continue;
    (step.specs[i].is_input() ? made.reads : made.writes)
        .push_back(name_of(planned.plan, planned.resolved, step.values[i]));
  }
  return made;
}

/// Equal texts mean equal plans.
std::string text_of(const chain::PlannedChain& planned) {
  std::string text;
  for (const chain::Step& step : planned.plan.steps) {
    text += fmt::format("{} {} {} {}", step.name, step.op->name, step.impl->name, step.params.canonical());
    for (const std::size_t value : step.values) text += " " + name_of(planned.plan, planned.resolved, value);
    text += '\n';
  }
  return text;
}

}  // namespace

ChainPlan chain_plan_of(const chain::PlannedChain& planned) {
  ChainPlan made{.transitions = planned.plan.transitions,
                 .transition_bytes = planned.plan.transition_bytes,
                 .folded = planned.plan.folded,
                 .peak_bytes = planned.peak_bytes,
                 .is_exact = planned.plan.is_exact,
                 .hash = hash_hex(text_of(planned)),
                 .times_run = planned.times_run};
  for (const chain::Step& step : planned.plan.steps) made.steps.push_back(step_of(planned, step));
  return made;
}

}  // namespace assay
