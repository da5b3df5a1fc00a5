#include "harness/cases/expansion/node_cases.h"

#include "harness/cases/expansion/point_data.h"
#include "harness/chain/node_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace assay {
namespace {

constexpr const char* any_answer_because = "the scales suit the chain's data, and these are drawn";

/// The op's tensors, of which trivial answers are accepted.
std::vector<TensorSpec> accepting_trivial_answers(std::vector<TensorSpec> tensors) {
  for (TensorSpec& tensor : tensors) {
    if (tensor.is_input()) continue;
    tensor.constant_because = any_answer_because;
    tensor.copy_because = any_answer_because;
    tensor.ends_because = any_answer_because;
  }
  return tensors;
}

std::string id_of(const Case& node) {
  std::string id = node.op->name + '/' + node.name;
  cases::append_forms_and_impl(node, id);
  return id;
}

/// The chain case's id without its impl, as a name: "refinenet_fused.whole.4C.4W4C".
std::string name_of_chain_case(const Case& chain_case) {
  std::string name = chain_case.id.substr(0, chain_case.id.rfind('/'));
  std::ranges::replace(name, '/', '.');
  return name;
}

class NodeCases {
 public:
  void add_nodes_of(const Case& chain_case) {
    const chain::Chain& chain = *chain_case.op->chain;
    const chain::ResolvedChain resolved = chain::resolve(chain, chain_case.params);
    for (chain::TimedPoint& point : chain::points_to_time(chain, resolved, chain_case.forms))
      add(std::move(point), chain_case);
  }

  std::vector<Case> take() { return std::move(cases_); }

 private:
  void add(chain::TimedPoint timed, const Case& chain_case) {
    const chain::OpPoint& point = timed.point;
    const std::string what =
        fmt::format("{} {} {} {}", point.op->name, point.impl->name, point.params.canonical(),
                    chain::forms_text(point.specs, timed.forms));
    if (const auto known = known_.find(what); known != known_.end()) {
      Tier& tier = cases_[known->second].tier;
      tier = std::min(tier, chain_case.tier);
      return;
    }
    Case made;
    made.name = fmt::format("{}.{}", name_of_chain_case(chain_case), timed.name);
    made.op = point.op;
    made.impl = point.impl;
    made.params = point.params;
    made.tensors = accepting_trivial_answers(point.specs);
    made.forms = std::move(timed.forms);
    for (const TensorSpec& spec : point.specs) {
      if (spec.is_input()) made.fills.edit()[spec.name] = {};
    }
    made.mode = Mode::Perf;
    made.tier = chain_case.tier;
    made.seed = chain_case.seed;
    made.timeout_s = chain_case.timeout_s;
    made.where = chain_case.where;
    made.invalid = why_invalid(made);
    if (made.invalid) return;  // no plan takes these forms
    made.data_key = cases::data_key(made, [](const ArrayFile&) { return std::string(); });
    set_id(made);
    known_.emplace(what, cases_.size());
    cases_.push_back(std::move(made));
  }

  /// A node and a tensor of a chain may have one name.
  void set_id(Case& made) {
    const std::string name = made.name;
    for (int i = 2; !ids_.insert(made.id = id_of(made)).second; ++i)
      made.name = fmt::format("{}.{}", name, i);
  }

  std::vector<Case> cases_;
  std::map<std::string, std::size_t> known_;  ///< places in cases_, by what is computed
  std::set<std::string> ids_;
};

}  // namespace

std::vector<Case> node_cases(std::span<const Case> cases) {
  NodeCases nodes;
  for (const Case& one : cases) {
    if (one.op->chain && !one.invalid) nodes.add_nodes_of(one);
  }
  return nodes.take();
}

}  // namespace assay
