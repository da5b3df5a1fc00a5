#include "harness/chain/chain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace assay::chain {
namespace {

using Part = ChainError::Part;

std::string describe(DType dtype, const Shape& shape) {
  return fmt::format("{} [{}]", name_of(dtype), fmt::join(shape, ", "));
}

/// Who makes each tensor, by name; nothing: it enters the chain.
using Producers = std::map<std::string, std::optional<std::size_t>>;

std::string producer_text(const Chain& chain, std::optional<std::size_t> node) {
  return node ? fmt::format("the node '{}'", chain.nodes[*node].name) : std::string("'tensors'");
}

Producers producers_of(const Chain& chain) {
  Producers producers;
  for (std::size_t i = 0; i < chain.tensors.size(); ++i) {
    const std::string& name = chain.tensors[i].name;
    if (!producers.emplace(name, std::nullopt).second)
      throw ChainError(Part::Tensor, i, "", fmt::format("the tensor '{}' is declared twice", name));
  }
  for (std::size_t i = 0; i < chain.nodes.size(); ++i) {
    for (const auto& [output, name] : chain.nodes[i].outputs) {
      const auto [known, is_new] = producers.emplace(name, i);
      if (is_new) continue;
      throw ChainError(Part::Node, i, "outputs." + output,
                       fmt::format("the tensor '{}' has two producers: {} and {}", name,
                                   producer_text(chain, known->second), producer_text(chain, i)));
    }
  }
  return producers;
}

void check_names(const Chain& chain) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < chain.nodes.size(); ++i) {
    const NodeDecl& node = chain.nodes[i];
    if (!names.insert(node.name).second)
      throw ChainError(Part::Node, i, "name", fmt::format("two nodes have the name '{}'", node.name));
    std::map<std::string, std::string> bound;
    for (const auto& [input, tensor] : node.inputs) {
      const auto [known, is_new] = bound.emplace(tensor, input);
      if (is_new) continue;
      throw ChainError(Part::Node, i, "inputs." + input,
                       fmt::format("node '{}' reads '{}' as '{}' and as '{}', but a dispatch binds a tensor "
                                   "once: give it a clone of it",
                                   node.name, tensor, known->second, input));
    }
  }
}

void check_inputs(const Chain& chain, const Producers& producers) {
  for (std::size_t i = 0; i < chain.nodes.size(); ++i) {
    for (const auto& [input, tensor] : chain.nodes[i].inputs) {
      if (producers.contains(tensor)) continue;
      throw ChainError(Part::Node, i, "inputs." + input,
                       fmt::format("no node has the output '{}', and it is not one of 'tensors'", tensor));
    }
  }
}

std::set<std::string> tensors_read(const Chain& chain) {
  std::set<std::string> read;
  for (const NodeDecl& node : chain.nodes) {
    for (const auto& [input, tensor] : node.inputs) read.insert(tensor);
  }
  return read;
}

void check_unread(const Chain& chain, const Producers& producers) {
  const std::set<std::string> read = tensors_read(chain);
  for (std::size_t i = 0; i < chain.tensors.size(); ++i) {
    if (!read.contains(chain.tensors[i].name)) {
      throw ChainError(Part::Tensor, i, "",
                       fmt::format("no node reads the tensor '{}'", chain.tensors[i].name));
    }
  }
  for (std::size_t i = 0; i < chain.outputs.size(); ++i) {
    const auto found = producers.find(chain.outputs[i]);
    if (found == producers.end() || !found->second) {
      throw ChainError(
          Part::Output, i, "",
          fmt::format("'{}' leaves the chain, but no node has it as an output", chain.outputs[i]));
    }
  }
  if (chain.outputs.empty()) return;
  for (std::size_t i = 0; i < chain.nodes.size(); ++i) {
    for (const auto& [output, name] : chain.nodes[i].outputs) {
      if (read.contains(name) || std::ranges::find(chain.outputs, name) != chain.outputs.end()) continue;
      throw ChainError(
          Part::Node, i, "outputs." + output,
          fmt::format("nothing uses '{}': no node reads it, and it is not one of 'outputs'", name));
    }
  }
}

/// Turns names of parameters of the chain into their values.
Value value_of(const ValueOrName& given, const Params& params) {
  if (const auto* name = std::get_if<ParamName>(&given)) return params.at(name->name);
  return std::get<Value>(given);
}

/// Resolves the nodes of a chain one after the other.
class Resolver {
 public:
  Resolver(const Chain& chain, const Params& params) : chain_(chain), params_(params) {}

  ResolvedChain resolve() {
    for (std::size_t i = 0; i < chain_.tensors.size(); ++i) add_outer(i);
    const std::vector<std::size_t> order = in_order(chain_);
    for (const std::size_t node : order) add_node(node);
    for (ResolvedTensor& tensor : made_.tensors) {
      tensor.leaves =
          !tensor.enters() && (chain_.outputs.empty() ? tensor.consumers.empty() : is_output(tensor.name));
    }
    for (std::size_t i = 0; i < order.size(); ++i) finish_updates(order[i], made_.nodes[i]);
    for (const bool leaving : {false, true}) {
      for (std::size_t i = 0; i < made_.tensors.size(); ++i) {
        if (leaving ? made_.tensors[i].leaves : made_.tensors[i].enters()) made_.outer.push_back(i);
      }
    }
    return std::move(made_);
  }

 private:
  bool is_output(const std::string& name) const {
    return std::ranges::find(chain_.outputs, name) != chain_.outputs.end();
  }

  void add_outer(std::size_t index) {
    const OuterTensor& declared = chain_.tensors[index];
    ResolvedTensor tensor{.name = declared.name, .spec = {}, .qparams = {}, .producer = {}, .consumers = {}};
    tensor.spec.name = declared.name;
    tensor.spec.dtype = declared.dtype;
    const Value shape = value_of(declared.shape, params_);
    const auto* dims = std::get_if<std::vector<std::int64_t>>(&shape);
    if (dims == nullptr) throw ChainError(Part::Tensor, index, "shape", "a shape is a list of integers");
    tensor.spec.shape = *dims;
    if (declared.qparams) {
      const Value qparams = value_of(*declared.qparams, params_);
      const auto* known = std::get_if<QParams>(&qparams);
      if (known == nullptr)
        throw ChainError(Part::Tensor, index, "qparams", "qparams are {scale: ..., zero_point: ...}");
      tensor.qparams = *known;
    }
    by_name_[declared.name] = made_.tensors.size();
    made_.tensors.push_back(std::move(tensor));
  }

  [[noreturn]] void fail(const std::string& key, const std::string& message) const {
    throw ChainError(Part::Node, at_, key, fmt::format("node '{}': {}", decl().name, message));
  }

  const NodeDecl& decl() const { return chain_.nodes[at_]; }

  const ResolvedTensor* input(const std::string& name) const {
    const auto found = decl().inputs.find(name);
    return found == decl().inputs.end() ? nullptr : &made_.tensors[by_name_.at(found->second)];
  }

  /// The input whose shape gives sizes.
  const ResolvedTensor* main_input() const {
    if (decl().inputs.empty()) return nullptr;
    const ResolvedTensor* x = input("x");
    return x != nullptr ? x : input(decl().inputs.begin()->first);
  }

  void add_node(std::size_t index) {
    at_ = index;
    ResolvedNode node{.name = decl().name, .op = decl().op, .impl = decl().impl};
    for (const auto& [name, value] : decl().params) {
      if (node.op->find_param(name) == nullptr)
        fail("with." + name, fmt::format("{} has no parameter '{}'", node.op->name, name));
    }
    for (const ParamSpec& spec : node.op->params) set_param(node.params, spec);
    try {
      node.specs = node.op->tensors(node.params);
    } catch (const ParameterError& error) {
      fail("with." + error.parameter().substr(0, error.parameter().find('.')), error.what());
    } catch (const Error& error) {
      fail("", error.what());
    }
    if (is_updated_in_place(node.specs)) {
      fail("op",
           fmt::format("{} reads and changes a tensor in place, and a chain's tensors have one producer "
                       "each; only ops that write a part of a tensor and read none of it can",
                       node.op->name));
    }
    if (node.op->answers_of_case)
      fail("op", fmt::format("{} has no reference, and a chain needs those of its nodes", node.op->name));
    check_bound(node);
    for (const TensorSpec& spec : node.specs) connect(node, spec);
    made_.nodes.push_back(std::move(node));
  }

  void set_param(Params& params, const ParamSpec& spec) {
    const auto given = decl().params.find(spec.name);
    std::optional<Value> value;
    if (given != decl().params.end()) value = value_of(given->second, params_);
    if (!value) value = followed(spec);
    try {
      if (value) spec.check(*value);
      if (!value) value = spec.default_for(params);
    } catch (const Error& error) {
      fail("with." + spec.name, error.what());
    }
    if (!value) {
      fail("", fmt::format("the parameter '{}' of {} is missing{}", spec.name, decl().op->name,
                           spec.doc.empty() ? "" : ": " + spec.doc));
    }
    params.set(spec.name, *std::move(value));
  }

  /// The value of a parameter that follows from connected tensors.
  std::optional<Value> followed(const ParamSpec& spec) const {
    const ResolvedTensor* named = input(spec.name);
    if (spec.kind == ParamSpec::Kind::QParams) return followed_qparams(spec, named);
    if (spec.kind == ParamSpec::Kind::Shape && named != nullptr) return named->spec.shape;
    if (spec.kind == ParamSpec::Kind::Shape && spec.name == "b_shape" && input("b") != nullptr)
      return input("b")->spec.shape;
    const ResolvedTensor* main = main_input();
    if (main == nullptr) return std::nullopt;
    if (spec.name == "dtype") {
      const std::string dtype(name_of(main->spec.dtype));
      const bool has_it = std::ranges::find(spec.choices, dtype) != spec.choices.end();
      return has_it ? std::optional<Value>(dtype) : std::nullopt;
    }
    return size_of_main(spec.name, main->spec.shape);
  }

  std::optional<Value> followed_qparams(const ParamSpec& spec, const ResolvedTensor* named) const {
    const bool has_default = spec.fallback || spec.derive;
    if (named == nullptr && !has_default && decl().outputs.contains(spec.name)) named = main_input();
    if (named == nullptr || !named->qparams) return std::nullopt;
    return *named->qparams;
  }

  std::optional<Value> size_of_main(const std::string& name, const Shape& shape) const {
    const Op& op = *decl().op;
    if (name == "shape") return shape;
    if (op.find_param("C") != nullptr && op.find_param("H") != nullptr && shape.size() <= 4) {
      const Dims dims = nchw(shape);
      if (name == "N") return dims.n;
      if (name == "C") return dims.c;
      if (name == "H") return dims.h;
      if (name == "W") return dims.w;
    }
    if (op.find_param("M") != nullptr && op.find_param("K") != nullptr) {
      const std::size_t rank = shape.size();
      if (name == "K") return shape.back();
      if (name == "M") return rank > 1 ? shape[rank - 2] : 1;
      if (name == "batch" && rank > 2) return Shape(shape.begin(), shape.end() - 2);
    }
    return std::nullopt;
  }

  void check_bound(const ResolvedNode& node) const {
    for (const auto* bound : {&decl().inputs, &decl().outputs}) {
      const bool as_input = bound == &decl().inputs;
      for (const auto& [name, tensor] : *bound) {
        // An output that begins with an input's data has its name, too.
        std::vector<std::string> known;
        for (const TensorSpec& one : node.specs) {
          if (one.is_input() == as_input) known.push_back(one.name);
        }
        if (std::ranges::find(known, name) != known.end()) continue;
        fail(fmt::format("{}.{}", as_input ? "inputs" : "outputs", name),
             fmt::format("{} has no {} '{}' here; it has {}", node.op->name, as_input ? "input" : "output",
                         name, fmt::join(known, ", ")));
      }
    }
  }

  void connect(ResolvedNode& node, const TensorSpec& spec) {
    const std::size_t number = made_.nodes.size();
    if (!spec.is_input()) return add_output(node, spec, number);
    const auto bound = decl().inputs.find(spec.name);
    if (bound == decl().inputs.end()) return add_constant(node, spec, number);
    ResolvedTensor& tensor = made_.tensors[by_name_.at(bound->second)];
    check_meets(spec, tensor);
    if (tensor.enters() && tensor.consumers.empty()) {
      tensor.spec = spec;
      tensor.spec.name = tensor.name;
    }
    tensor.consumers.push_back(number);
    node.tensors.push_back(by_name_.at(bound->second));
  }

  void check_meets(const TensorSpec& spec, const ResolvedTensor& tensor) const {
    const std::string key = "inputs." + spec.name;
    if (spec.dtype != tensor.spec.dtype || spec.shape != tensor.spec.shape) {
      fail(key, fmt::format("the input '{}' of {} is {}, but the tensor '{}' is {}", spec.name,
                            decl().op->name, describe(spec.dtype, spec.shape), tensor.name,
                            describe(tensor.spec.dtype, tensor.spec.shape)));
    }
    if (spec.constant && !tensor.enters()) {
      fail(key, fmt::format("{} takes '{}' as a constant, which set-up may read before anything runs, but "
                            "'{}' is the output of a node: it must enter the chain",
                            decl().op->name, spec.name, tensor.name));
    }
    const auto given = decl().params.find(spec.name);
    if (given == decl().params.end() || !tensor.qparams) return;
    const Value value = value_of(given->second, params_);
    const auto* qparams = std::get_if<QParams>(&value);
    if (qparams == nullptr || *qparams == *tensor.qparams) return;
    fail("with." + spec.name,
         fmt::format("'{}' is read with the scale and zero point {}, but '{}' was written with {}", spec.name,
                     to_string(value), tensor.name, to_string(Value(*tensor.qparams))));
  }

  void add_constant(ResolvedNode& node, const TensorSpec& spec, std::size_t number) {
    if (!spec.constant) {
      fail("inputs", fmt::format("the input '{}' of {} is not connected; only constants such as weights need "
                                 "no tensor",
                                 spec.name, decl().op->name));
    }
    ResolvedTensor tensor{.name = node.name + "." + spec.name,
                          .spec = spec,
                          .qparams = {},
                          .producer = {},
                          .consumers = {number}};
    tensor.spec.name = tensor.name;
    node.tensors.push_back(made_.tensors.size());
    made_.tensors.push_back(std::move(tensor));
  }

  void add_output(ResolvedNode& node, const TensorSpec& spec, std::size_t number) {
    const auto bound = decl().outputs.find(spec.name);
    if (bound == decl().outputs.end()) {
      fail("outputs", fmt::format("the output '{}' of {} has no name: every output is used", spec.name,
                                  decl().op->name));
    }
    ResolvedTensor tensor{.name = bound->second,
                          .spec = spec,
                          .qparams = qparams_of_output(node, spec),
                          .producer = number,
                          .consumers = {}};
    tensor.spec.name = tensor.name;
    if (spec.starts_as) tensor.begins_as = node.tensors[*spec.starts_as];
    by_name_[tensor.name] = made_.tensors.size();
    node.tensors.push_back(made_.tensors.size());
    made_.tensors.push_back(std::move(tensor));
  }

  /// Checks the tensors that a node writes in part, once all readers are known, and says which rows of what
  /// they begin with exist.
  void finish_updates(std::size_t index, const ResolvedNode& node) {
    at_ = index;
    for (std::size_t i = 0; i < node.specs.size(); ++i) {
      const ResolvedTensor& after = made_.tensors[node.tensors[i]];
      if (node.specs[i].is_input() || !after.begins_as) continue;
      ResolvedTensor& before = made_.tensors[*after.begins_as];
      check_update(node.specs[i].name, before, after);
      for (const std::size_t reader : after.consumers) limit(before.spec.domain, reader, node.tensors[i]);
      if (has_reader_of_all(after, node.tensors[i])) before.spec.domain.valid.reset();
    }
  }

  /// Whether a reader of a tensor does not say which of its rows exist, so that all do.
  bool has_reader_of_all(const ResolvedTensor& of, std::size_t tensor) const {
    return std::ranges::any_of(of.consumers, [&](std::size_t reader) {
      const ResolvedNode& node = made_.nodes[reader];
      for (std::size_t i = 0; i < node.specs.size(); ++i) {
        const TensorSpec& spec = node.specs[i];
        if (node.tensors[i] == tensor && spec.is_input() && !spec.domain.valid) return true;
      }
      return false;
    });
  }

  void check_update(const std::string& slot, const ResolvedTensor& before,
                    const ResolvedTensor& after) const {
    const std::string& op = decl().op->name;
    if (!before.enters()) {
      fail("inputs." + slot, fmt::format("{} writes a part of '{}', so that what it begins with, '{}', must "
                                         "enter the chain: it is the output of a node",
                                         op, after.name, before.name));
    }
    if (before.consumers.size() > 1) {
      fail("inputs." + slot,
           fmt::format("'{}' is what '{}' begins with, and only {} may have it as an input: "
                       "other nodes read '{}'",
                       before.name, after.name, op, after.name));
    }
    if (!after.leaves) {
      fail("outputs." + slot, fmt::format("{} writes a part of '{}', which must leave the chain: name it in "
                                          "'outputs'",
                                          op, after.name));
    }
  }

  /// Takes over what a reader of `tensor` says about its values.
  void limit(FillDomain& domain, std::size_t reader, std::size_t tensor) const {
    const ResolvedNode& node = made_.nodes[reader];
    for (std::size_t i = 0; i < node.specs.size(); ++i) {
      const FillDomain& of = node.specs[i].domain;
      if (node.tensors[i] != tensor || !node.specs[i].is_input()) continue;
      if (of.most > 0) domain.most = domain.most > 0 ? std::min(domain.most, of.most) : of.most;
      if (!of.valid) continue;
      domain.valid = std::max(domain.valid.value_or(0), *of.valid);
      domain.valid_axis = of.valid_axis;
    }
  }

  /// An op without qparams moves integers: they keep their meaning.
  std::optional<QParams> qparams_of_output(const ResolvedNode& node, const TensorSpec& spec) const {
    const auto is_qparams = [](const ParamSpec& param) { return param.kind == ParamSpec::Kind::QParams; };
    const ParamSpec* own = node.op->find_param(spec.name);
    if (own != nullptr && is_qparams(*own)) return node.params.qparams(spec.name);
    const ResolvedTensor* main = main_input();
    const bool moves = std::ranges::none_of(node.op->params, is_qparams);
    return moves && main != nullptr && main->spec.dtype == spec.dtype ? main->qparams : std::nullopt;
  }

  const Chain& chain_;
  const Params& params_;
  ResolvedChain made_;
  std::map<std::string, std::size_t> by_name_;
  std::size_t at_ = 0;  ///< the node that is being resolved, in the declaration
};

}  // namespace

std::vector<std::size_t> in_order(const Chain& chain) {
  if (chain.nodes.empty()) throw ChainError(Part::Chain, 0, "nodes", "a chain has at least one node");
  const Producers producers = producers_of(chain);
  check_names(chain);
  check_inputs(chain, producers);
  check_unread(chain, producers);
  std::vector<std::size_t> order;
  std::vector<bool> is_placed(chain.nodes.size());
  const auto is_ready = [&](std::size_t node) {
    return std::ranges::all_of(chain.nodes[node].inputs, [&](const auto& input) {
      const std::optional<std::size_t> producer = producers.at(input.second);
      return !producer || is_placed[*producer];
    });
  };
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (std::size_t i = 0; i < chain.nodes.size(); ++i) {
      if (is_placed[i] || !is_ready(i)) continue;
      is_placed[i] = has_grown = true;
      order.push_back(i);
    }
  }
  if (order.size() == chain.nodes.size()) return order;
  const auto first = static_cast<std::size_t>(std::ranges::find(is_placed, false) - is_placed.begin());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < chain.nodes.size(); ++i) {
    if (!is_placed[i]) names.push_back(chain.nodes[i].name);
  }
  throw ChainError(Part::Node, first, "inputs",
                   fmt::format("these nodes wait for each other, a cycle: {}", fmt::join(names, ", ")));
}

ResolvedChain resolve(const Chain& chain, const Params& params) {
  return Resolver(chain, params).resolve();
}

}  // namespace assay::chain
