// The time of planning the forms of a net's tensors, for nets of residual blocks:
// build/release/planner_benchmark

#include "harness/chain/planner/planner.h"
#include "harness/chain/planner/planner_test_support.h"

#include <benchmark/benchmark.h>

// NOLINTBEGIN(clang-analyzer-deadcode.DeadStores): `for (auto _ : state)`
namespace {

using namespace assay;

void plan_residual_net(benchmark::State& state, chain::PlanMode mode) {
  const chain::PlanProblem net = test::residual_net(static_cast<std::size_t>(state.range(0)));
  chain::Plan plan;
  for (auto _ : state) plan = chain::make_plan(net, mode);
  if (!plan.is_exact) state.SkipWithError("the plan is not exact");
  state.counters["transitions"] = plan.transitions;
  state.counters["cost"] = plan.cost;
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(plan_residual_net, naive, chain::PlanMode::Naive)
    ->Arg(100)
    ->Arg(5000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_residual_net, greedy, chain::PlanMode::Greedy)
    ->Arg(100)
    ->Arg(5000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_residual_net, optimal, chain::PlanMode::Optimal)
    ->Arg(100)
    ->Arg(5000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
// NOLINTEND(clang-analyzer-deadcode.DeadStores)
