// The time of planning the layouts of chains of the tree's ops: build/release/chain_benchmark

#include "harness/chain/chain.h"
#include "harness/chain/chain_program.h"
#include "harness/chain/layout_plan.h"
#include "ops/registry.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

// NOLINTBEGIN(clang-analyzer-deadcode.DeadStores): `for (auto _ : state)`
namespace {

using namespace assay;
using chain::Chain;
using chain::NodeDecl;
using chain::PlanMode;
using chain::ResolvedChain;
using chain::ValueOrName;

const Registry& registry() {
  static const Registry made = ops::registry();
  return made;
}

NodeDecl node(const std::string& name, const std::string& op, std::map<std::string, ValueOrName> params,
              std::map<std::string, std::string> inputs) {
  const Op* found = registry().find(op);
  const Impl* by_default = found->find_impl("auto");
  return {.name = name,
          .op = found,
          .impl = by_default != nullptr ? by_default : &found->impls.front(),
          .params = std::move(params),
          .inputs = std::move(inputs),
          .outputs = {{"y", name + "_y"}}};
}

/// A net of MobileNetV2 blocks, each of four nodes: channels are expanded, filtered one by one, projected
/// back and added to what they were. Every other block has a clone on the way to its addition, and a clamp.
Chain blocks(std::size_t nodes) {
  const std::int64_t narrow = 24;
  const std::int64_t wide = 144;
  Chain net;
  net.name = "blocks";
  net.tensors = {{.name = "image",
                  .dtype = DType::I8,
                  .shape = Value(Shape{1, narrow, 56, 56}),
                  .qparams = Value(QParams{0.02F, -4})}};
  net.clone = registry().find("clone");
  net.q8ta_clone = registry().find("q8ta_clone");
  std::string last = "image";
  std::string before_block = last;
  const auto add = [&](const std::string& op, std::map<std::string, ValueOrName> params,
                       std::map<std::string, std::string> inputs) {
    net.nodes.push_back(
        node("n" + std::to_string(net.nodes.size()), op, std::move(params), std::move(inputs)));
    last = net.nodes.back().outputs.at("y");
  };
  // The default scales would grow from node to node without an end.
  const ValueOrName qparams = Value(QParams{0.02F, -4});
  const ValueOrName side = Value(Shape{3, 3});
  const ValueOrName one = Value(Shape{1, 1});
  while (net.nodes.size() < nodes) {
    before_block = last;
    add("q8ta_conv2d_pw", {{"OC", Value(wide)}, {"bias", Value(true)}, {"y", qparams}}, {{"x", last}});
    add("q8ta_conv2d_dw", {{"kernel", side}, {"padding", one}, {"bias", Value(true)}, {"y", qparams}},
        {{"x", last}});
    add("q8ta_conv2d_pw", {{"OC", Value(narrow)}, {"bias", Value(true)}, {"y", qparams}}, {{"x", last}});
    if (net.nodes.size() / 4 % 2 == 1) {
      add("q8ta_relu", {}, {{"x", last}});
      const std::string clamped = last;
      add("q8ta_clone", {}, {{"x", before_block}});
      before_block = std::exchange(last, clamped);
    }
    add("q8ta_add", {}, {{"a", last}, {"b", before_block}});
  }
  return net;
}

struct Net {
  Chain chain;
  ResolvedChain resolved;
  std::vector<Form> forms;
};

Net net_of(std::size_t nodes) {
  Net net{.chain = blocks(nodes), .resolved = {}, .forms = {}};
  net.resolved = resolve(net.chain, {});
  for (const std::size_t tensor : net.resolved.outer)
    net.forms.push_back(net.resolved.tensors[tensor].spec.forms.front());
  return net;
}

void resolve_chain(benchmark::State& state) {
  const Chain net = blocks(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(resolve(net, {}));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(resolve_chain)->Arg(100)->Arg(5000)->Unit(benchmark::kMillisecond);

void plan_chain(benchmark::State& state, PlanMode mode) {
  const Net net = net_of(static_cast<std::size_t>(state.range(0)));
  chain::LayoutPlan plan;
  for (auto _ : state) plan = plan_layouts(net.chain, net.resolved, net.forms, DeviceInfo{}, mode);
  if (!plan.is_exact) state.SkipWithError("the plan is not exact");
  state.counters["transitions"] = plan.transitions;
  state.counters["bytes"] = static_cast<double>(plan.transition_bytes);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(plan_chain, naive, PlanMode::Naive)->Arg(100)->Arg(5000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_chain, greedy, PlanMode::Greedy)->Arg(100)->Arg(5000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_chain, optimal, PlanMode::Optimal)->Arg(100)->Arg(5000)->Unit(benchmark::kMillisecond);

void build_timed_program(benchmark::State& state) {
  const Net net = net_of(static_cast<std::size_t>(state.range(0)));
  const chain::LayoutPlan plan =
      plan_layouts(net.chain, net.resolved, net.forms, DeviceInfo{}, PlanMode::Optimal);
  for (auto _ : state) benchmark::DoNotOptimize(timed_program(plan, net.resolved, DeviceInfo{}));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(build_timed_program)->Arg(100)->Arg(5000)->Unit(benchmark::kMillisecond);

}  // namespace
// NOLINTEND(clang-analyzer-deadcode.DeadStores)
