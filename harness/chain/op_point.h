#pragma once

#include "harness/chain/chain.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::chain {

/// Whether a node gives all values unchanged, in the same order.
bool only_copies(const ResolvedNode& node);

/// Whether a node leaves all values where they are, so that input and output may be one resource.
bool is_identity(const ResolvedNode& node, std::span<const Form> forms);

/// Of each tensor, whether it must be a resource of its own because a node reads it beside another tensor
/// that it is a copy of, or that is a copy of the same one: a dispatch binds a resource once.
std::vector<bool> read_beside_their_copies(const ResolvedChain& chain);

/// An op with its parameters, before the forms of its tensors are chosen.
struct OpPoint {
  const Op* op = nullptr;
  const Impl* impl = nullptr;
  Params params;
  std::vector<TensorSpec> specs;
};

OpPoint point_of(const ResolvedNode& node);

/// The copy of a tensor from one form to another; nothing if no op copies its dtype.
std::optional<OpPoint> copy_of(const Chain& chain, const TensorSpec& spec);

/// Whether there is a physical tensor of every form, whatever the device.
bool can_hold(const OpPoint& point, std::span<const Form> forms);

/// The impl that runs these forms on the device, or null.
const Impl* impl_for(const OpPoint& point, std::span<const Form> forms, const DeviceInfo& device);

/// The slots of a node whose forms are planned: its inputs without constants, then its outputs.
std::vector<std::size_t> planned_slots(const ResolvedNode& node);

/// All combinations of forms that a node declares, the op's default first. `fixed` has the forms of
/// constants.
std::vector<std::vector<Form>> combinations_of(const ResolvedNode& node, std::span<const Form> fixed);

/// The forms in which a tensor may be: those that its producer and its consumers declare, and those of the
/// chain as an op.
class FormsOfTensors {
 public:
  /// `outer` has the forms of ResolvedChain::outer.
  FormsOfTensors(const ResolvedChain& chain, std::span<const Form> outer);

  const std::vector<Form>& of(std::size_t tensor) const { return forms_[tensor]; }
  std::size_t index(std::size_t tensor, Form form) const;

 private:
  void add(std::size_t tensor, Form form);

  std::vector<std::vector<Form>> forms_;
};

/// The forms of a node's constants, at their slots, as the chain as an op has them.
std::vector<Form> forms_of_constants(const ResolvedChain& chain, const ResolvedNode& node,
                                     std::span<const Form> outer);

}  // namespace assay::chain
