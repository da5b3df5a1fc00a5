#include "harness/chain/planner/net.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace assay::chain {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw std::logic_error("cannot plan this chain: " + why);
}

/// Checks a cost; `name` returns what costs that much.
template <typename Name>
void check_cost(double cost, const Name& name) {
  if (!(cost >= 0)) refuse(fmt::format("{} costs {}: costs are numbers >= 0", name(), cost));
}

/// Checks the form of a tensor; `name` returns what names it.
template <typename Name>
void check_form(const PlanProblem& problem, std::size_t tensor, std::size_t form, const Name& name) {
  const std::size_t forms = problem.tensors[tensor].copy_cost.size();
  if (form >= forms) {
    refuse(fmt::format("{} names form {} of tensor {}, which has {} forms", name(), form, tensor, forms));
  }
}

void check_tensor(const PlanProblem& problem, std::size_t index) {
  const PlanProblem::Tensor& tensor = problem.tensors[index];
  const std::size_t forms = tensor.copy_cost.size();
  for (std::size_t from = 0; from < forms; ++from) {
    if (tensor.copy_cost[from].size() != forms) {
      refuse(fmt::format("tensor {} has {} forms, but {} costs of copies from form {}", index, forms,
                         tensor.copy_cost[from].size(), from));
    }
    for (std::size_t to = 0; to < forms; ++to) {
      check_cost(tensor.copy_cost[from][to],
                 [&] { return fmt::format("a copy of tensor {} from form {} to {}", index, from, to); });
    }
  }
  if (tensor.given) check_form(problem, index, *tensor.given, [] { return "`given`"; });
  if (tensor.wanted) check_form(problem, index, *tensor.wanted, [] { return "`wanted`"; });
}

void check_choices(const PlanProblem& problem, std::size_t index) {
  const PlanProblem::Node& node = problem.nodes[index];
  if (node.choices.empty()) refuse(fmt::format("node {} has no choices", index));
  for (std::size_t number = 0; number < node.choices.size(); ++number) {
    const PlanProblem::Choice& choice = node.choices[number];
    const auto name = [&] { return fmt::format("choice {} of node {}", number, index); };
    if (choice.forms.size() != slots_of(node)) {
      refuse(fmt::format("{} has {} forms, but the node has {} inputs and {} outputs", name(),
                         choice.forms.size(), node.inputs.size(), node.outputs.size()));
    }
    for (std::size_t slot = 0; slot < choice.forms.size(); ++slot) {
      check_form(problem, tensor_at(node, slot), choice.forms[slot], name);
    }
    check_cost(choice.cost, name);
  }
}

void check_tensors_of_node(const PlanProblem& problem, std::size_t index) {
  const PlanProblem::Node& node = problem.nodes[index];
  for (std::size_t slot = 0; slot < slots_of(node); ++slot) {
    const std::size_t tensor = tensor_at(node, slot);
    if (tensor < problem.tensors.size()) continue;
    refuse(fmt::format("node {} names tensor {}, but there are {} tensors", index, tensor,
                       problem.tensors.size()));
  }
}

void add_producers(Net& net) {
  for (std::size_t node = 0; node < net.nodes(); ++node) {
    const PlanProblem::Node& declared = net.problem.nodes[node];
    for (std::size_t output = 0; output < declared.outputs.size(); ++output) {
      const std::size_t tensor = declared.outputs[output];
      if (net.problem.tensors[tensor].given) {
        refuse(
            fmt::format("tensor {} has two producers: it is given, and an output of node {}", tensor, node));
      }
      if (net.producers[tensor]) {
        refuse(fmt::format("tensor {} has two producers: it is an output of node {} and of node {}", tensor,
                           net.producers[tensor]->node, node));
      }
      net.producers[tensor] = Slot{.node = node, .slot = declared.inputs.size() + output};
    }
  }
  for (std::size_t tensor = 0; tensor < net.tensors(); ++tensor) {
    if (net.producers[tensor] || net.problem.tensors[tensor].given) continue;
    refuse(fmt::format("tensor {} has no producer: it is not given, and not an output of any node", tensor));
  }
}

void add_consumers(Net& net) {
  for (std::size_t node = 0; node < net.nodes(); ++node) {
    const std::vector<std::size_t>& inputs = net.problem.nodes[node].inputs;
    for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
      const std::optional<Slot>& producer = net.producers[inputs[slot]];
      if (producer && producer->node >= node) {
        refuse(fmt::format("node {} reads tensor {}, which node {} produces: producers come before consumers",
                           node, inputs[slot], producer->node));
      }
      net.consumers[inputs[slot]].push_back({.node = node, .slot = slot});
    }
  }
}

}  // namespace

Net checked_net(const PlanProblem& problem) {
  for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) check_tensor(problem, tensor);
  for (std::size_t node = 0; node < problem.nodes.size(); ++node) {
    check_tensors_of_node(problem, node);
    check_choices(problem, node);
  }
  Net net{.problem = problem,
          .producers = std::vector<std::optional<Slot>>(problem.tensors.size()),
          .consumers = std::vector<std::vector<Slot>>(problem.tensors.size())};
  add_producers(net);
  add_consumers(net);
  return net;
}

void keep_targets(std::vector<std::size_t>& forms, std::size_t from) {
  sort_each_once(forms);
  std::erase(forms, from);
}

Score score_of_copies(const PlanProblem::Tensor& tensor, std::size_t from,
                      const std::vector<std::size_t>& targets) {
  Score score;
  for (const std::size_t to : targets) score += score_of_copy(tensor.copy_cost[from][to]);
  return score;
}

std::size_t form_at(const Net& net, const Slot& slot, const std::vector<std::size_t>& choices) {
  return net.problem.nodes[slot.node].choices[choices[slot.node]].forms[slot.slot];
}

std::size_t form_made(const Net& net, std::size_t tensor, const std::vector<std::size_t>& choices) {
  const std::optional<Slot>& producer = net.producers[tensor];
  return producer ? form_at(net, *producer, choices) : net.problem.tensors[tensor].given.value();
}

void find_targets(const Net& net, std::size_t tensor, const std::vector<std::size_t>& choices,
                  std::vector<std::size_t>& targets) {
  targets.clear();
  for (const Slot& consumer : net.consumers[tensor]) targets.push_back(form_at(net, consumer, choices));
  if (const auto& wanted = net.problem.tensors[tensor].wanted) targets.push_back(*wanted);
  keep_targets(targets, form_made(net, tensor, choices));
}

Plan plan_of(const Net& net, std::vector<std::size_t> choices) {
  Plan plan{.choices = std::move(choices)};
  std::vector<std::size_t> targets;
  for (std::size_t tensor = 0; tensor < net.tensors(); ++tensor) {
    find_targets(net, tensor, plan.choices, targets);
    const std::size_t from = form_made(net, tensor, plan.choices);
    plan.cost += score_of_copies(net.problem.tensors[tensor], from, targets).cost;
    for (const std::size_t to : targets) plan.copies.push_back({.tensor = tensor, .from = from, .to = to});
  }
  for (std::size_t node = 0; node < net.nodes(); ++node) {
    plan.cost += net.problem.nodes[node].choices[plan.choices[node]].cost;
  }
  plan.transitions = static_cast<int>(plan.copies.size());
  return plan;
}

bool is_better(const Plan& plan, const Plan& other) {
  const auto sum = [](const std::vector<std::size_t>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::size_t{0});
  };
  const std::size_t mine = sum(plan.choices);
  const std::size_t others = sum(other.choices);
  return std::tie(plan.cost, plan.transitions, mine, plan.choices) <
         std::tie(other.cost, other.transitions, others, other.choices);
}

}  // namespace assay::chain
