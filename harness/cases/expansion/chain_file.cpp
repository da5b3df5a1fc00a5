#include "harness/cases/expansion/chain_file.h"

#include "harness/base/text.h"
#include "harness/cases/expansion/expand.h"
#include "harness/cases/expansion/param_value.h"
#include "harness/cases/expansion/setting.h"
#include "harness/cases/yaml/reporter.h"
#include "harness/cases/yaml/scalars.h"
#include "harness/chain/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay::cases {
namespace {

using chain::Chain;
using chain::ChainError;
using chain::NodeDecl;
using chain::OuterTensor;
using chain::ParamName;
using chain::ValueOrName;

bool is_plain_name(const std::string& name) {
  return !name.empty() && id_text(name) == name && name.find('.') == std::string::npos;
}

/// The declaration of a parameter of the chain, whose kind its default shows.
ParamSpec param_of(const Node::Entry& entry) {
  const std::string& name = entry.key->text;
  const Node& value = *entry.value;
  const Origin origin{entry.key, entry.value};
  if (!is_plain_name(name) || is_reserved(name))
    throw Problem(
        diagnose(*entry.key, fmt::format("'{}' cannot be the name of a parameter", printable_line(name))));
  const auto with_default = [&](ParamSpec spec) {
    spec.fallback = to_value(spec, origin, {});
    return spec;
  };
  if (value.is_list()) return with_default(shape(name));
  if (value.is_map() && value.find("one_of") != nullptr) {
    const Node& choices = *value.find("one_of");
    if (!choices.is_list() || choices.items.empty())
      wrong_type(choices, {entry.key, name + ".one_of"}, "a list of words, the default first");
    std::vector<std::string> words;
    for (const Node* item : choices.items) words.push_back(to_text(*item, {entry.key, name + ".one_of"}));
    return choice(name, words).by_default(words.front());
  }
  if (value.is_map()) return with_default(qparams(name));
  if (as_integer(value)) return with_default(integer(name));
  if (as_boolean(value)) return with_default(boolean(name));
  if (as_number(value)) return with_default(number(name));
  wrong_type(value, {entry.key, name},
             "a default: a number, true or false, a list of sizes, {scale: .., zero_point: ..} or "
             "{one_of: [..]}");
}

/// Reads one chain. Everything is read, so that no error hides another.
class ChainReader {
 public:
  ChainReader(const Node& root, const Registry& registry, const LoadOptions& options)
      : root_(root), registry_(registry) {
    chain_.times = options.node_times;
  }

  Op read() {
    read_name();
    if (const Node::Entry* entry = root_.find_entry("params")) read_params(*entry);
    problems_.attempt(
        [&] { read_tensors(required(root_, "tensors", *root_.find_entry("chain")->key, what())); });
    problems_.attempt([&] { read_nodes(required(root_, "nodes", *root_.find_entry("chain")->key, what())); });
    if (const Node::Entry* entry = root_.find_entry("outputs")) {
      problems_.attempt([&] { read_outputs(*entry); });
    }
    problems_.settle();
    refuse_unused_params();
    chain_.clone = registry_.find("clone");
    chain_.q8ta_clone = registry_.find("q8ta_clone");
    check();
    return op_of(std::move(chain_));
  }

 private:
  std::string what() const { return fmt::format("the chain '{}'", chain_.name); }

  void read_name() {
    const Node::Entry& entry = *root_.find_entry("chain");
    chain_.name = to_text(*entry.value, {entry.key, "chain"});
    chain_.file = location_of(*entry.key).file;
    if (!is_plain_name(chain_.name)) {
      throw Problem(diagnose(*entry.key, fmt::format("the name of a chain may have only letters, digits and "
                                                     "'_', got '{}'",
                                                     printable_line(chain_.name))));
    }
    if (registry_.find(chain_.name) != nullptr) {
      throw Problem(
          diagnose(*entry.key, fmt::format("'{}' is an op: give the chain another name", chain_.name)));
    }
  }

  void read_params(const Node::Entry& entry) {
    problems_.attempt([&] {
      if (!entry.value->is_map())
        wrong_type(*entry.value, {entry.key, "params"}, "a map of defaults by name");
      for (const Node::Entry& param : entry.value->entries)
        problems_.attempt([&] { chain_.params.push_back(param_of(param)); });
    });
  }

  /// A value, or the name of a parameter of the chain: "$shape".
  template <class Read>
  ValueOrName value_or_name(const Node::Entry& entry, Read read) {
    const Node& value = *entry.value;
    if (!value.is_scalar() || !value.text.starts_with('$')) return read();
    const std::string name = value.text.substr(1);
    const auto known = std::ranges::find(chain_.params, name, &ParamSpec::name);
    used_.insert(name);
    if (known != chain_.params.end()) return ParamName{name};
    std::vector<std::string> names;
    for (const ParamSpec& param : chain_.params) names.push_back(param.name);
    throw unknown_name(*entry.key, "parameter of the chain:", name, names);
  }

  /// Cases that differ only in such a parameter would be one case with several ids.
  void refuse_unused_params() const {
    const Node::Entry* params = root_.find_entry("params");
    if (params == nullptr) return;
    Problems problems;
    for (const Node::Entry& param : params->value->entries) {
      const std::string& name = param.key->text;
      if (used_.contains(name)) continue;
      problems.add(Problem(diagnose(
          *param.key,
          fmt::format("no tensor and no node uses the parameter '{0}': write ${0} where its value counts",
                      name))));
    }
    problems.settle();
  }

  void read_tensors(const Node::Entry& entry) {
    if (!entry.value->is_map()) {
      wrong_type(*entry.value, {entry.key, "tensors"},
                 "a map of tensors by name: {x: {dtype: i8, shape: [..]}}");
    }
    for (const Node::Entry& tensor : entry.value->entries) {
      tensor_keys_.push_back(tensor.key);
      problems_.attempt([&] { chain_.tensors.push_back(tensor_of(tensor)); });
    }
  }

  OuterTensor tensor_of(const Node::Entry& entry) {
    static const std::vector<std::string> keys{"dtype", "shape", "qparams"};
    const std::string& name = entry.key->text;
    if (!is_plain_name(name))
      throw Problem(
          diagnose(*entry.key, fmt::format("'{}' cannot be the name of a tensor", printable_line(name))));
    if (!entry.value->is_map()) wrong_type(*entry.value, {entry.key, name}, "a map with 'dtype' and 'shape'");
    check_keys(*entry.value, keys);
    OuterTensor tensor{.name = name, .dtype = DType::F32, .shape = {}, .qparams = {}};
    const Node::Entry& dtype = required(*entry.value, "dtype", *entry.key, fmt::format("tensor '{}'", name));
    tensor.dtype = dtype_of(dtype);
    const Node::Entry& size = required(*entry.value, "shape", *entry.key, fmt::format("tensor '{}'", name));
    tensor.shape = value_or_name(size, [&] { return to_value(shape("shape"), {size.key, size.value}, {}); });
    if (const Node::Entry* given = entry.value->find_entry("qparams")) {
      tensor.qparams = value_or_name(*given, [&] {
        return to_value(qparams("qparams"), {given->key, given->value}, {});
      });
    }
    return tensor;
  }

  static DType dtype_of(const Node::Entry& entry) {
    static const std::array dtypes{DType::F32, DType::F16, DType::I8, DType::U8, DType::I32};
    std::vector<std::string> names;
    const std::string& text = to_text(*entry.value, {entry.key, "dtype"});
    for (const DType dtype : dtypes) {
      if (name_of(dtype) == text) return dtype;
      names.emplace_back(name_of(dtype));
    }
    throw unknown_name(*entry.key, "dtype", text, names);
  }

  void read_nodes(const Node::Entry& entry) {
    if (!entry.value->is_list() || entry.value->items.empty())
      wrong_type(*entry.value, {entry.key, "nodes"}, "a list of nodes, each a map with 'name' and 'op'");
    for (const Node* item : entry.value->items) {
      problems_.attempt([&] {
        chain_.nodes.push_back(node_of(*item));
        nodes_.push_back(item);
      });
    }
  }

  NodeDecl node_of(const Node& item) {
    static const std::vector<std::string> keys{"name", "op", "impl", "with", "inputs", "outputs"};
    if (!item.is_map())
      throw Problem(diagnose(item, "a node is a map with 'name' and 'op', got " + describe(item)));
    check_keys(item, keys);
    NodeDecl node;
    const Node::Entry& name = required(item, "name", item, "the node");
    node.name = to_text(*name.value, {name.key, "name"});
    if (!is_plain_name(node.name))
      throw Problem(
          diagnose(*name.key, fmt::format("'{}' cannot be the name of a node", printable_line(node.name))));
    const std::string of = fmt::format("the node '{}'", node.name);
    node.op = op_of_node(required(item, "op", *name.key, of));
    node.impl = impl_of_node(item, *node.op);
    Problems problems;
    if (const Node::Entry* with = item.find_entry("with")) {
      problems.attempt([&] { node.params = params_of(*with, *node.op); });
    }
    problems.attempt([&] { node.inputs = names_in(required(item, "inputs", *name.key, of)); });
    problems.attempt([&] { node.outputs = names_in(required(item, "outputs", *name.key, of)); });
    problems.settle();
    return node;
  }

  const Op* op_of_node(const Node::Entry& entry) const {
    const std::string& name = to_text(*entry.value, {entry.key, "op"});
    if (const Op* op = registry_.find(name)) return op;
    std::vector<std::string> names;
    for (const Op& op : registry_.ops()) names.push_back(op.name);
    throw unknown_name(*entry.key, "op", name, names);
  }

  static const Impl* impl_of_node(const Node& item, const Op& op) {
    const Node::Entry* entry = item.find_entry("impl");
    if (entry == nullptr) return op.default_impl();
    const std::string& name = to_text(*entry->value, {entry->key, "impl"});
    if (const Impl* impl = op.find_impl(name)) return impl;
    std::vector<std::string> names;
    for (const Impl& impl : op.impls) names.push_back(impl.name);
    throw unknown_name(*entry->key, fmt::format("impl of {}:", op.name), name, names);
  }

  std::map<std::string, ValueOrName> params_of(const Node::Entry& with, const Op& op) {
    if (!with.value->is_map()) wrong_type(*with.value, {with.key, "with"}, "a map of the op's parameters");
    std::map<std::string, ValueOrName> params;
    Problems problems;
    for (const Node::Entry& entry : with.value->entries) {
      problems.attempt([&] {
        const ParamSpec* spec = op.find_param(entry.key->text);
        if (spec == nullptr) {
          std::vector<std::string> names;
          for (const ParamSpec& param : op.params) names.push_back(param.name);
          throw unknown_name(*entry.key, fmt::format("parameter of {}:", op.name), entry.key->text, names);
        }
        params.emplace(entry.key->text, value_or_name(entry, [&] {
                         return ValueOrName(to_value(*spec, {entry.key, entry.value}, {}));
                       }));
      });
    }
    problems.settle();
    return params;
  }

  static std::map<std::string, std::string> names_in(const Node::Entry& entry) {
    if (!entry.value->is_map()) {
      wrong_type(*entry.value, {entry.key, entry.key->text},
                 "a map from the op's tensors to the chain's: {x: a}");
    }
    std::map<std::string, std::string> names;
    for (const Node::Entry& one : entry.value->entries) {
      const std::string& name = to_text(*one.value, {one.key, one.key->text});
      if (!is_plain_name(name))
        throw Problem(
            diagnose(*one.key, fmt::format("'{}' cannot be the name of a tensor", printable_line(name))));
      names[one.key->text] = name;
    }
    return names;
  }

  void read_outputs(const Node::Entry& entry) {
    if (!entry.value->is_list() || entry.value->items.empty())
      wrong_type(*entry.value, {entry.key, "outputs"}, "a list of tensors");
    for (const Node* item : entry.value->items) {
      chain_.outputs.push_back(to_text(*item, {entry.key, "outputs"}));
      outputs_.push_back(item);
    }
  }

  /// Resolves the chain with the defaults of its parameters.
  void check() const try {
    Params params;
    for (const ParamSpec& spec : chain_.params) params.set(spec.name, *spec.fallback);
    resolve(chain_, params);
  } catch (const ChainError& error) {
    throw Problem(diagnose(place_of(error), error.what()));
  }

  const Node& place_of(const ChainError& error) const {
    switch (error.part()) {
      case ChainError::Part::Tensor:
        return *tensor_keys_[error.index()];
      case ChainError::Part::Output:
        return *outputs_[error.index()];
      case ChainError::Part::Node:
        return place_in_node(*nodes_[error.index()], error.key());
      case ChainError::Part::Chain:
        break;
    }
    return *root_.find_entry("chain")->key;
  }

  /// The deepest key of "with.OC" that was written, else the node.
  static const Node& place_in_node(const Node& node, const std::string& key) {
    const std::size_t dot = key.find('.');
    const Node::Entry* outer = node.find_entry(key.substr(0, dot));
    if (outer == nullptr) return *node.find_entry("name")->key;
    if (dot == std::string::npos || !outer->value->is_map()) return *outer->key;
    const Node::Entry* inner = outer->value->find_entry(key.substr(dot + 1));
    return inner == nullptr ? *outer->key : *inner->key;
  }

  const Node& root_;
  const Registry& registry_;
  Chain chain_;
  Problems problems_;
  std::set<std::string> used_;  ///< names of parameters that a tensor or a node takes
  std::vector<const Node*> tensor_keys_, nodes_, outputs_;
};

}  // namespace

const std::vector<std::string>& chain_keys() {
  static const std::vector<std::string> keys{"chain", "params", "tensors", "nodes", "outputs"};
  return keys;
}

Op read_chain(const Node& root, const Registry& registry, const LoadOptions& options) {
  return ChainReader(root, registry, options).read();
}

}  // namespace assay::cases
