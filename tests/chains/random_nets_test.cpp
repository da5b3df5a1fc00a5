#include "harness/chain/chain.h"
#include "harness/chain/chain_program.h"
#include "harness/chain/layout_plan.h"
#include "harness/chain/op_point.h"
#include "tests/chains/chains_test_support.h"
#include "tests/faults/bench.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

using namespace test;

constexpr std::uint64_t nets_on_the_device = 30;

/// What the plans of nets contain.
struct Contents {
  std::int64_t copies = 0;   ///< transitions
  std::int64_t folded = 0;   ///< nodes
  std::int64_t sharing = 0;  ///< tensors in memory that another one had before

  void add(const Case& test_case, chain::PlanMode mode) {
    const chain::LayoutPlan plan = plan_of(test_case, mode);
    const Program program = timed_program(plan, resolve(*test_case.op->chain, test_case.params),
                                          faults::Bench::shared().device().info())
                                .program;
    std::set<std::uint32_t> taken;
    for (const Scratch& scratch : program.scratch) {
      if (scratch.in_memory_of && !taken.insert(*scratch.in_memory_of).second) ++sharing;
    }
    copies += plan.transitions;
    folded += static_cast<std::int64_t>(plan.folded.size());
  }
};

TEST(RandomNets, AreRightInEveryPlanWithTheSameAnswer) {
  Contents naive;
  Contents optimal;
  for (std::uint64_t seed = 1; seed <= nets_on_the_device; ++seed) {
    const std::string text = random_net(seed, {});
    SCOPED_TRACE("seed " + std::to_string(seed) + ":\n" + text);
    std::set<std::string> hashes;
    const std::vector<Case> cases = load_text(text);
    for (const Case& one : cases) {
      const Record record = run(one);
      EXPECT_EQ(record.status, Status::Pass) << one.id << ": " << record.reason;
      if (!record.accuracy) continue;
      EXPECT_TRUE(record.accuracy->hash_is_portable) << "every node is exact";
      hashes.insert(record.accuracy->output_hash);
    }
    EXPECT_EQ(hashes.size(), 1U);
    naive.add(cases.front(), chain::PlanMode::Naive);
    optimal.add(cases.front(), chain::PlanMode::Optimal);
  }
  // Otherwise the nets would not test what they are meant for.
  EXPECT_GT(naive.copies, 50);
  EXPECT_GT(naive.sharing, 50);
  EXPECT_LT(optimal.copies, naive.copies / 2);
  EXPECT_GT(optimal.folded, 5);
  EXPECT_GT(optimal.sharing, 20);
}

// The layouts of chains of real ops, planned but not run. That the planner is right on abstract nets is
// tested in harness/chain/planner; here it is what chains make of it: which forms an op has, what a copy
// costs, which nodes are folded.

using chain::LayoutPlan;
using chain::PlanMode;
using chain::ResolvedChain;
using chain::ResolvedNode;
using chain::Step;

std::int64_t bytes_of(const TensorSpec& spec, Form form) {
  return Physical(form, spec.dtype, spec.shape).bytes();
}

bool is_copy(const Op& op) {
  return op.name == "clone" || op.name == "q8ta_clone" || op.name == "view";
}

/// What copies and nodes that only copy read and write.
std::int64_t bytes_moved(const LayoutPlan& plan) {
  std::int64_t bytes = 0;
  for (const Step& step : plan.steps) {
    if (!is_copy(*step.op)) continue;
    for (std::size_t i = 0; i < step.specs.size(); ++i) bytes += bytes_of(step.specs[i], step.forms[i]);
  }
  return bytes;
}

/// A tensor as a kernel reads or writes it.
struct Copy {
  Form form;
  std::int64_t bytes = 0;
};

/// One way to run a node.
struct Choice {
  std::vector<Copy> tensors;  ///< one per tensor of the node
  std::int64_t bytes = 0;     ///< what the node itself moves, if it only copies
};

/// Looks for plans that move few bytes by trying all of them.
class AllPlans {
 public:
  AllPlans(const Case& test_case, const ResolvedChain& resolved, const DeviceInfo& device)
      : resolved_(resolved),
        device_(device),
        is_own_resource_(read_beside_their_copies(resolved)),
        made_(resolved.tensors.size()) {
    for (std::size_t i = 0; i < resolved.outer.size(); ++i) {
      const std::size_t tensor = resolved.outer[i];
      outer_.push_back(copy_of(resolved.tensors[tensor].spec, test_case.forms[i]));
      if (resolved.tensors[tensor].enters()) made_[tensor].push_back(outer_.back());
    }
    for (const ResolvedNode& node : resolved.nodes) choices_.push_back(choices_of(node));
  }

  /// How many plans there are.
  double count() const {
    double product = 1;
    for (const std::vector<Choice>& choices : choices_) product *= static_cast<double>(choices.size());
    return product;
  }

  /// Returns whether a plan moves fewer bytes than that.
  bool has_one_below(std::int64_t bytes) {
    below_ = bytes;
    return try_node(0, 0);
  }

 private:
  static Copy copy_of(const TensorSpec& spec, Form form) { return {form, bytes_of(spec, form)}; }

  std::vector<Form> forms_of(const ResolvedNode& node, std::size_t slot) const {
    if (node.specs[slot].constant) return {made_[node.tensors[slot]].front().form};
    std::vector<Form> known = node.specs[slot].forms;
    std::erase_if(known, [&](Form form) { return !exists(node.specs[slot], form); });
    return known;
  }

  static bool exists(const TensorSpec& spec, Form form) try {
    return bytes_of(spec, form) > 0;
  } catch (const Error&) {
    return false;
  }

  std::vector<Choice> choices_of(const ResolvedNode& node) const {
    std::vector<std::vector<Form>> combinations{{}};
    for (std::size_t i = 0; i < node.specs.size(); ++i) {
      std::vector<std::vector<Form>> longer;
      for (const std::vector<Form>& combination : combinations) {
        for (const Form form : forms_of(node, i)) {
          longer.push_back(combination);
          longer.back().push_back(form);
        }
      }
      combinations = std::move(longer);
    }
    std::vector<Choice> choices;
    for (const std::vector<Form>& forms : combinations) {
      if (runs(node, forms)) choices.push_back(choice_of(node, forms));
    }
    return choices;
  }

  bool runs(const ResolvedNode& node, const std::vector<Form>& forms) const {
    const Tune tune;
    const BuildContext context(node.params, node.specs, forms, device_, tune);
    return can_run(chosen_impl(*node.op, *node.impl, context), context);
  }

  Choice choice_of(const ResolvedNode& node, const std::vector<Form>& forms) const {
    Choice choice;
    for (std::size_t i = 0; i < forms.size(); ++i) choice.tensors.push_back(copy_of(node.specs[i], forms[i]));
    // A node that leaves all values where they are is free, unless its output leaves the chain.
    // A dispatch binds a resource once, so a node cannot read it as a tensor and as the copy of that.
    const bool is_free = is_unmoved(node, forms) && !resolved_.tensors[node.tensors[1]].leaves &&
                         !is_own_resource_[node.tensors[1]];
    if (is_copy(*node.op) && !is_free) choice.bytes = choice.tensors[0].bytes + choice.tensors[1].bytes;
    return choice;
  }

  static bool is_unmoved(const ResolvedNode& node, const std::vector<Form>& forms) {
    if (!is_copy(*node.op) || forms[0] != forms[1]) return false;
    // Of the float layouts in buffers, WP alone keeps the order of values.
    return node.specs[0].shape == node.specs[1].shape || forms[0] == Form{Storage::Buffer, Layout::WP};
  }

  bool try_node(std::size_t index, std::int64_t bytes) {
    if (bytes >= below_) return false;
    if (index == resolved_.nodes.size()) return bytes + bytes_of_leaving() < below_;
    const ResolvedNode& node = resolved_.nodes[index];
    for (const Choice& choice : choices_[index]) {
      std::vector<std::size_t> copied;
      const std::int64_t moved = bytes + choice.bytes + take(node, choice, copied);
      const bool is_below = try_node(index + 1, moved);
      for (const std::size_t tensor : copied) made_[tensor].pop_back();
      if (is_below) return true;
    }
    return false;
  }

  /// Returns the bytes that copies move. `changed`: the tensors with one form more.
  std::int64_t take(const ResolvedNode& node, const Choice& choice, std::vector<std::size_t>& changed) {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < choice.tensors.size(); ++i) {
      const std::size_t tensor = node.tensors[i];
      if (is_there(tensor, choice.tensors[i].form)) continue;
      if (node.specs[i].is_input()) bytes += made_[tensor].front().bytes + choice.tensors[i].bytes;
      made_[tensor].push_back(choice.tensors[i]);
      changed.push_back(tensor);
    }
    return bytes;
  }

  bool is_there(std::size_t tensor, Form form) const {
    return std::ranges::find(made_[tensor], form, &Copy::form) != made_[tensor].end();
  }

  std::int64_t bytes_of_leaving() const {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < outer_.size(); ++i) {
      const std::size_t tensor = resolved_.outer[i];
      if (!is_there(tensor, outer_[i].form)) bytes += made_[tensor].front().bytes + outer_[i].bytes;
    }
    return bytes;
  }

  const ResolvedChain& resolved_;
  const DeviceInfo& device_;
  std::vector<bool> is_own_resource_;         ///< of tensors
  std::vector<Copy> outer_;                   ///< per tensor that enters or leaves: what it must be
  std::vector<std::vector<Choice>> choices_;  ///< per node
  std::vector<std::vector<Copy>> made_;       ///< per tensor: as made, then its copies
  std::int64_t below_ = 0;
};

/// Every step finds what it reads, in the form that it reads, and writes what nothing has written; what
/// leaves is in the case's form.
void expect_sound(const LayoutPlan& plan, const ResolvedChain& resolved, const std::vector<Form>& outer) {
  std::set<std::size_t> made;
  for (std::size_t i = 0; i < plan.outer.size(); ++i) {
    EXPECT_EQ(plan.values[plan.outer[i]].form, outer[i]);
    if (resolved.tensors[resolved.outer[i]].enters()) made.insert(plan.outer[i]);
  }
  for (const Step& step : plan.steps) {
    EXPECT_EQ(std::set(step.values.begin(), step.values.end()).size(), step.values.size())
        << step.name << " binds a resource twice";
    for (const bool inputs : {true, false}) {
      for (std::size_t i = 0; i < step.values.size(); ++i) {
        if (step.specs[i].is_input() != inputs) continue;
        EXPECT_EQ(plan.values[step.values[i]].form, step.forms[i]) << step.name;
        EXPECT_EQ(made.insert(step.values[i]).second, !inputs) << step.name;
      }
    }
  }
  for (const std::size_t value : plan.outer) EXPECT_TRUE(made.contains(value)) << "an output is missing";
}

/// Tensors that share memory follow each other: the first dispatch that binds one comes after the last that
/// binds the one before.
void expect_disjoint(const Program& program) {
  std::map<std::uint32_t, std::uint32_t> last_of_memory;  ///< the scratch that was bound there last
  std::set<std::uint32_t> ended;
  for (const Dispatch& dispatch : program.dispatches) {
    std::map<std::uint32_t, std::uint32_t> here;
    for (const Binding& binding : dispatch.bindings) {
      if (binding.resource.kind != Resource::Kind::Scratch) continue;
      const std::uint32_t scratch = binding.resource.index;
      const auto memory = program.scratch[scratch].in_memory_of;
      if (!memory) continue;
      EXPECT_EQ(here.emplace(*memory, scratch).first->second, scratch) << dispatch.label;
      EXPECT_FALSE(ended.contains(scratch)) << dispatch.label << ": " << program.scratch[scratch].name;
    }
    for (const auto& [memory, scratch] : here) {
      const auto [known, is_new] = last_of_memory.emplace(memory, scratch);
      if (is_new || known->second == scratch) continue;
      ended.insert(std::exchange(known->second, scratch));
    }
  }
}

/// A net's plans in the three ways.
struct Plans {
  Case test_case;
  ResolvedChain resolved;
  LayoutPlan naive, greedy, optimal;
};

Plans planned(const std::string& text) {
  const std::vector<Case> cases = load_text(text);
  Plans made{.test_case = cases.at(0), .resolved = {}, .naive = {}, .greedy = {}, .optimal = {}};
  made.resolved = resolve(*made.test_case.op->chain, made.test_case.params);
  made.naive = plan_of(made.test_case, PlanMode::Naive);
  made.greedy = plan_of(made.test_case, PlanMode::Greedy);
  made.optimal = plan_of(made.test_case, PlanMode::Optimal);
  return made;
}

TEST(RandomPlans, OptimalMovesTheFewestBytesOfAllPlans) {
  constexpr double most_tried = 3e7;
  int tried = 0;
  int below_greedy = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::string text = random_net(seed, {.fewest_nodes = 2, .most_nodes = 6});
    SCOPED_TRACE("seed " + std::to_string(seed) + ":\n" + text);
    const Plans made = planned(text);
    ASSERT_TRUE(made.optimal.is_exact);
    AllPlans all(made.test_case, made.resolved, faults::Bench::shared().device().info());
    if (all.count() > most_tried) continue;
    ++tried;
    const std::int64_t bytes = bytes_moved(made.optimal);
    EXPECT_TRUE(all.has_one_below(bytes + 1)) << "the plan itself";
    EXPECT_FALSE(all.has_one_below(bytes)) << "than " << bytes;
    if (bytes < bytes_moved(made.greedy)) ++below_greedy;
  }
  EXPECT_GT(tried, 30);
  EXPECT_GT(below_greedy, 0);
}

TEST(RandomPlans, OptimalNeverMovesMoreBytesThanTheOthersAndAllAreSound) {
  int below_greedy = 0;
  int below_naive = 0;
  std::size_t folded = 0;
  for (std::uint64_t seed = 101; seed <= 140; ++seed) {
    const std::string text = random_net(seed, {.fewest_nodes = 10, .most_nodes = 40});
    SCOPED_TRACE("seed " + std::to_string(seed) + ":\n" + text);
    const Plans made = planned(text);
    for (const LayoutPlan* plan : {&made.naive, &made.greedy, &made.optimal}) {
      expect_sound(*plan, made.resolved, made.test_case.forms);
      expect_disjoint(timed_program(*plan, made.resolved, faults::Bench::shared().device().info()).program);
    }
    const std::int64_t bytes = bytes_moved(made.optimal);
    EXPECT_LE(bytes, bytes_moved(made.greedy));
    EXPECT_LE(bytes, bytes_moved(made.naive));
    if (bytes < bytes_moved(made.greedy)) ++below_greedy;
    if (bytes < bytes_moved(made.naive)) ++below_naive;
    folded += made.optimal.folded.size();
  }
  EXPECT_GT(below_greedy, 5);
  EXPECT_GT(below_naive, 20);
  EXPECT_GT(folded, 5U);
}

}  // namespace

}  // namespace assay
