#pragma once

#include "harness/base/error.h"
#include "harness/chain/planner/plan.h"
#include "harness/op/op.h"
#include "harness/op/params.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
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

class NodeTimes;

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
  std::vector<NodeDecl> nodes;  ///< in any order
  /// Tensors that leave the chain. Empty: those that no node reads.
  std::vector<std::string> outputs;
  const Op* clone = nullptr;               ///< changes the form of float tensors
  const Op* q8ta_clone = nullptr;          ///< changes the form of int8 tensors
  std::string file;                        ///< the case file that declares it, for messages
  std::shared_ptr<const NodeTimes> times;  ///< for the impl `fastest`; null: unknown
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
struct ResolvedTensor {
  std::string name;  ///< "a"; "conv1.w" for a constant that only the node conv1 has
  TensorSpec spec;   ///< its producer's; for a tensor that enters, its first consumer's
  std::optional<QParams> qparams;
  std::optional<std::size_t> producer;  ///< a node; nothing: it enters
  std::vector<std::size_t> consumers;   ///< nodes, in order
  bool leaves = false;                  ///< it is an output of the chain
  /// For the output of a node that writes a part of it (TensorSpec::written_in_part): the tensor that enters
  /// and whose data its memory holds when the chain begins.
  std::optional<std::size_t> begins_as;

  bool enters() const { return !producer; }
};

/// A node whose parameters are known.
struct ResolvedNode {
  std::string name;
  const Op* op = nullptr;
  const Impl* impl = nullptr;
  Params params;
  std::vector<TensorSpec> specs;
  std::vector<std::size_t> tensors;  ///< one per spec: index in ResolvedChain::tensors
};

/// A chain with known parameters.
struct ResolvedChain {
  std::vector<ResolvedTensor> tensors;
  std::vector<ResolvedNode> nodes;  ///< producers before consumers
  /// The tensors of the chain as an op: those that enter, then those that leave.
  std::vector<std::size_t> outer;
};

/// Returns the indices of the nodes such that producers come before consumers, else in the order declared.
/// Throws ChainError for names that are used twice, a tensor with two producers or none, a cycle, and tensors
/// that nothing reads although `outputs` does not name them.
std::vector<std::size_t> in_order(const Chain& chain);

/// Finds the parameters and tensors of all nodes. A parameter that is not given is taken
/// - for qparams with the name of a connected input: from that tensor, whose producer has qparams with the
///   name of the output, or which enters the chain with qparams; for qparams without a default that have the
///   name of an output: from the main input;
/// - for sizes (`shape`; `N`, `C`, `H` and `W`; `batch`, `M` and `K`): from the shape of the main input,
/// which
///   is `x` if that is connected, else the first by name; for `b_shape`: from the input `b`; for `indices`:
///   from the input of that name;
/// - for `dtype`: from the main input, if the op has that choice;
/// - else from the op's default.
/// An output that a node writes in part must leave the chain, and what it begins with must enter and have no
/// other reader. Of the latter, rows that no reader of the output looks at do not exist (FillDomain::valid):
/// a reader that does not say which rows it looks at looks at all of them. Throws ChainError if one is
/// missing, if an op refuses them, or if shapes, dtypes or qparams do not meet.
ResolvedChain resolve(const Chain& chain, const Params& params);

/// One way to plan a chain's layouts, as an impl of its op.
struct ChainImpl {
  std::string name;
  PlanMode mode;
  bool by_time;  ///< costs are measured times instead of bytes
  std::string summary;
};
const std::vector<ChainImpl>& chain_impls();

/// The op that a chain is in case files: its tensors are those that enter and leave, its impls are the ways
/// to plan the layouts in between.
Op op_of(Chain chain);

}  // namespace assay::chain
