#include "harness/chain/planner/planner_test_support.h"

#include "harness/chain/planner/planner.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace assay::test {
namespace {

using chain::PlanProblem;

/// Whole numbers from a generator: standard distributions differ between libraries.
class Draw {
 public:
  explicit Draw(std::mt19937_64& random) : random_(random) {}
  std::size_t below(std::size_t end) { return random_() % end; }
  bool with_chance(double chance) { return static_cast<double>(below(1000)) < chance * 1000; }

 private:
  std::mt19937_64& random_;
};

PlanProblem::Tensor random_tensor(Draw& draw, double impossible_copies) {
  PlanProblem::Tensor tensor = uniform_tensor(1 + draw.below(4), 0);
  for (std::vector<double>& row : tensor.copy_cost) {
    for (double& cost : row) {
      cost = draw.with_chance(impossible_copies) ? impossible : static_cast<double>(draw.below(10));
    }
  }
  return tensor;
}

std::vector<std::size_t> random_forms(Draw& draw, const PlanProblem& net, const PlanProblem::Node& node) {
  std::vector<std::size_t> forms;
  for (const std::vector<std::size_t>* side : {&node.inputs, &node.outputs}) {
    for (const std::size_t tensor : *side) forms.push_back(draw.below(net.tensors[tensor].copy_cost.size()));
  }
  return forms;
}

PlanProblem::Node random_node(Draw& draw, PlanProblem& net, const RandomNet& limits) {
  PlanProblem::Node node;
  const std::size_t inputs = 1 + draw.below(3);
  for (std::size_t i = 0; i < inputs; ++i) node.inputs.push_back(draw.below(net.tensors.size()));
  const std::size_t outputs = 1 + draw.below(5) / 4;
  for (std::size_t i = 0; i < outputs; ++i) {
    node.outputs.push_back(net.tensors.size());
    net.tensors.push_back(random_tensor(draw, limits.impossible_copies));
  }
  const std::size_t choices = 1 + draw.below(limits.most_choices);
  for (std::size_t i = 0; i < choices; ++i) {
    node.choices.push_back(
        {.forms = random_forms(draw, net, node), .cost = static_cast<double>(draw.below(4))});
  }
  return node;
}

/// The share of a tensor's size that a convolution costs more than in its best forms, which differ from node
/// to node.
double convolution_cost(std::size_t node, std::size_t in, std::size_t out) {
  const std::size_t block = node / 4;
  return (in == (3 * block + node) % 5 ? 0 : 1.5) + (out == (2 * block + node + 1) % 5 ? 0 : 1);
}

double mixed_cost(const std::vector<std::size_t>& forms) {
  const bool is_mixed = std::ranges::any_of(forms, [&](std::size_t form) { return form != forms.front(); });
  return is_mixed ? 0.5 : 0;
}

/// Adds a node that makes a new tensor of that size, and returns the tensor.
std::size_t add_node(PlanProblem& net, const std::vector<std::size_t>& inputs, double size,
                     bool is_convolution) {
  const std::size_t made = net.tensors.size();
  net.tensors.push_back(uniform_tensor(5, 2 * size));
  PlanProblem::Node node{.inputs = inputs, .outputs = {made}, .choices = free_choices(inputs.size() + 1, 5)};
  for (PlanProblem::Choice& choice : node.choices) {
    choice.cost =
        size * (is_convolution ? convolution_cost(net.nodes.size(), choice.forms[0], choice.forms[1])
                               : mixed_cost(choice.forms));
  }
  net.nodes.push_back(node);
  return made;
}

}  // namespace

PlanProblem::Tensor uniform_tensor(std::size_t forms, double cost) {
  return {.copy_cost = std::vector(forms, std::vector(forms, cost))};
}

std::vector<PlanProblem::Choice> free_choices(std::size_t tensors, std::size_t forms) {
  std::vector<PlanProblem::Choice> choices{{}};
  for (std::size_t i = 0; i < tensors; ++i) {
    std::vector<PlanProblem::Choice> longer;
    for (const PlanProblem::Choice& choice : choices) {
      for (std::size_t form = 0; form < forms; ++form) {
        longer.push_back(choice);
        longer.back().forms.push_back(form);
      }
    }
    choices = longer;
  }
  return choices;
}

std::vector<PlanProblem::Choice> tied_choices(std::size_t tensors, std::size_t forms) {
  std::vector<PlanProblem::Choice> choices;
  for (std::size_t form = 0; form < forms; ++form) choices.push_back({.forms = std::vector(tensors, form)});
  return choices;
}

PlanProblem residual_net(std::size_t nodes) {
  PlanProblem net;
  net.tensors.push_back(uniform_tensor(5, 1000));
  net.tensors.front().given = 0;
  std::size_t block_input = 0;
  std::size_t last = 0;
  while (net.nodes.size() < nodes) {
    const std::size_t place = net.nodes.size() % 4;
    const double size = 1000.0 * static_cast<double>(1 + net.nodes.size() / 4 % 8);
    if (place == 0) block_input = last;
    last = place == 3 ? add_node(net, {last, block_input}, size, false)
                      : add_node(net, {last}, size, place != 1);
  }
  net.tensors.back().wanted = 0;
  return net;
}

PlanProblem random_net(std::mt19937_64& random, const RandomNet& limits) {
  Draw draw(random);
  PlanProblem net;
  const std::size_t inputs = 1 + draw.below(3);
  for (std::size_t i = 0; i < inputs; ++i) {
    PlanProblem::Tensor tensor = random_tensor(draw, limits.impossible_copies);
    tensor.given = draw.below(tensor.copy_cost.size());
    net.tensors.push_back(tensor);
  }
  const std::size_t nodes = 1 + draw.below(limits.most_nodes);
  for (std::size_t i = 0; i < nodes; ++i) net.nodes.push_back(random_node(draw, net, limits));
  for (PlanProblem::Tensor& tensor : net.tensors) {
    if (draw.below(4) == 0) tensor.wanted = draw.below(tensor.copy_cost.size());
  }
  return net;
}

PlanProblem::Tensor given_tensor(std::size_t forms, double cost, std::size_t form) {
  PlanProblem::Tensor tensor = uniform_tensor(forms, cost);
  tensor.given = form;
  return tensor;
}

PlanProblem::Tensor wanted_tensor(std::size_t forms, double cost, std::size_t form) {
  PlanProblem::Tensor tensor = uniform_tensor(forms, cost);
  tensor.wanted = form;
  return tensor;
}

PlanProblem chain_of_three() {
  PlanProblem net{.tensors = {given_tensor(3, 10, 0), uniform_tensor(3, 10), uniform_tensor(3, 10),
                              wanted_tensor(3, 10, 0)}};
  for (const std::size_t preferred : {1U, 2U, 1U}) {
    PlanProblem::Node node{.inputs = {net.nodes.size()}, .outputs = {net.nodes.size() + 1}};
    node.choices = {{.forms = {preferred, preferred}}};
    for (const PlanProblem::Choice& choice : tied_choices(2, 3)) node.choices.push_back(choice);
    net.nodes.push_back(node);
  }
  return net;
}

PlanProblem residual() {
  PlanProblem net{.tensors = {given_tensor(2, 10, 0), uniform_tensor(2, 10), uniform_tensor(2, 10),
                              wanted_tensor(2, 10, 0)}};
  net.nodes = {{.inputs = {0}, .outputs = {1}, .choices = free_choices(2, 2)},
               {.inputs = {1}, .outputs = {2}, .choices = tied_choices(2, 2)},
               {.inputs = {2, 1}, .outputs = {3}, .choices = tied_choices(3, 2)}};
  net.nodes[1].choices[0].cost = 25;
  return net;
}

PlanProblem fan_out(const std::vector<std::size_t>& consumer_forms) {
  PlanProblem net{.tensors = {given_tensor(1, 0, 0), uniform_tensor(3, 10)}};
  net.nodes.push_back(
      {.inputs = {0}, .outputs = {1}, .choices = {{.forms = {0, 0}}, {.forms = {0, 1}, .cost = 4}}});
  for (const std::size_t form : consumer_forms) {
    net.nodes.push_back({.inputs = {1}, .outputs = {net.tensors.size()}, .choices = {{.forms = {form, 0}}}});
    net.tensors.push_back(uniform_tensor(1, 0));
  }
  return net;
}

double price(const PlanProblem& net, const std::vector<std::size_t>& choices) {
  double sum = 0;
  std::vector<std::size_t> made(net.tensors.size());
  std::vector<std::set<std::size_t>> needed(net.tensors.size());
  for (std::size_t tensor = 0; tensor < net.tensors.size(); ++tensor) {
    if (net.tensors[tensor].given) made[tensor] = *net.tensors[tensor].given;
    if (net.tensors[tensor].wanted) needed[tensor].insert(*net.tensors[tensor].wanted);
  }
  for (std::size_t i = 0; i < net.nodes.size(); ++i) {
    const PlanProblem::Choice& choice = net.nodes[i].choices[choices[i]];
    sum += choice.cost;
    auto form = choice.forms.begin();
    for (const std::size_t tensor : net.nodes[i].inputs) needed[tensor].insert(*form++);
    for (const std::size_t tensor : net.nodes[i].outputs) made[tensor] = *form++;
  }
  for (std::size_t tensor = 0; tensor < net.tensors.size(); ++tensor) {
    needed[tensor].erase(made[tensor]);
    for (const std::size_t form : needed[tensor]) sum += net.tensors[tensor].copy_cost[made[tensor]][form];
  }
  return sum;
}

std::string complaint(const PlanProblem& net, chain::PlanMode mode) try {
  chain::make_plan(net, mode);
  return "";
} catch (const std::logic_error& error) {
  return error.what();
} catch (const chain::NoFinitePlan& error) {
  return error.what();
}

bool can_be_improved(const PlanProblem& net, const chain::Plan& plan) {
  std::vector<std::size_t> choices = plan.choices;
  for (std::size_t node = 0; node < choices.size(); ++node) {
    for (std::size_t number = 0; number < net.nodes[node].choices.size(); ++number) {
      choices[node] = number;
      if (price(net, choices) < plan.cost) return true;
    }
    choices[node] = plan.choices[node];
  }
  return false;
}

}  // namespace assay::test
