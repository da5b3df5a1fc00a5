#pragma once

#include "harness/base/error.h"
#include "harness/op/op.h"
#include "harness/op/params.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace assay::chain {

/// The name of a parameter of the chain, whose value a node or a tensor takes: "$shape" in a case file.
struct ParamName {
  std::string name;
};
using ValueOrName = std::variant<Value, ParamName>;

/// A tensor that enters the chain.
struct OuterTensor {
  std::string name;
  DType dtype = DType::F32;
  ValueOrName shape;                   ///< a list
  std::optional<ValueOrName> qparams;  ///< what its integers mean, for the nodes that read it
};

/// One op of a chain.
struct NodeDecl {
  std::string name;
  const Op* op = nullptr;
  const Impl* impl = nullptr;
  std::map<std::string, ValueOrName> params;   ///< those that are given; the others follow (resolve())
  std::map<std::string, std::string> inputs;   ///< the op's tensor -> the chain's
  std::map<std::string, std::string> outputs;  ///< the same
};

/// A chain as a file declares it: ops over named tensors.
struct Chain {
  std::string name;
  std::vector<ParamSpec> params;  ///< each with a default
  std::vector<OuterTensor> tensors;
  std::vector<NodeDecl> nodes;  ///< producers before consumers, once in_order() has sorted them
  /// Tensors that leave the chain. Empty: those that no node reads.
  std::vector<std::string> outputs;
  const Op* clone = nullptr;       ///< changes the form of float tensors
  const Op* q8ta_clone = nullptr;  ///< changes the form of int8 tensors
};

/// An error in a chain, with the part of the declaration that it is about.
class ChainError : public Error {
 public:
  enum class Part : std::uint8_t { Chain, Tensor, Node, Output };
  ChainError(Part part, std::size_t index, std::string key, const std::string& message)
      : Error(message), part_(part), index_(index), key_(std::move(key)) {}

  Part part() const { return part_; }
  std::size_t index() const { return index_; }  ///< of the tensor, node or output in the declaration
  /// Where in a node: "inputs.x", "with.OC", or empty.
  const std::string& key() const { return key_; }

 private:
  Part part_;
  std::size_t index_;
  std::string key_;
};

/// A tensor of a chain with known parameters.
struct NetTensor {
  std::string name;  ///< "a"; "conv1.w" for a tensor that only the node conv1 has
  TensorSpec spec;   ///< its producer's, or for a tensor that enters its first consumer's
  std::optional<QParams> qparams;
  std::optional<std::size_t> producer;  ///< a node
  std::vector<std::size_t> consumers;   ///< nodes, in order
  bool leaves = false;                  ///< it is an output of the chain

  bool enters() const { return !producer; }
};

/// A node whose parameters are known.
struct NetNode {
  std::string name;
  const Op* op = nullptr;
  const Impl* impl = nullptr;
  Params params;
  std::vector<TensorSpec> specs;
  std::vector<std::size_t> tensors;  ///< one per spec: index in Net::tensors
};

/// A chain with known parameters.
struct Net {
  std::vector<NetTensor> tensors;  ///< those that enter first, then the outputs of nodes, in order of nodes
  std::vector<NetNode> nodes;      ///< producers before consumers
};

/// Sorts nodes so that producers come before consumers; returns for each the index in `chain.nodes` as
/// declared. Throws ChainError for names that are used twice, a tensor with two producers or none, a cycle, an
/// input that is not an input of its op, and the like.
std::vector<std::size_t> in_order(const Chain& chain);

/// Finds the parameters and tensors of all nodes. A parameter that is not given is taken
/// - for qparams with the name of a connected input: from that tensor, whose producer has qparams with the
///   name of the output, or which enters the chain with qparams;
/// - for sizes (`shape`, `N` `C` `H` `W`, `batch` `M` `K`, or a shape named after an input): from the shape of
///   the first connected input, or of the input that the name begins with;
/// - for `dtype`: from the first connected input, if it is a float tensor;
/// - else from the op's default.
/// Throws ChainError if one is missing, if an op refuses them, or if shapes, dtypes or qparams do not meet.
Net resolve(const Chain& chain, const Params& params);

/// The op that a chain is in case files: its tensors are those that enter and leave, its impls are the ways to
/// plan the layouts in between.
Op op_of(Chain chain);

}  // namespace assay::chain
