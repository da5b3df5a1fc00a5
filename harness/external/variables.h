#pragma once

#include "harness/external/expression/expression.h"
#include "harness/external/manifest/manifest.h"
#include "harness/op/op.h"

#include <optional>
#include <span>

namespace assay::external {

/// What the names in expressions stand for at one point, as far as it is known there: parameters ("shape",
/// "q.scale"), tensors ("x.shape", "x.elements", "x.bytes"), tunables, and limits of the device
/// ("device.subgroup_size"). What it refers to must outlive it.
struct Variables {
  const Params& params;
  std::span<const TensorSpec> tensors{};
  const DeclaredImpl* impl = nullptr;
  const Tune* tune = nullptr;
  const DeviceInfo* device = nullptr;

  std::optional<Variable> find(std::string_view name) const;
  Lookup lookup() const {
    return [this](std::string_view name) { return find(name); };
  }
};

/// The dtype, or that which the choice parameter names.
DType dtype_at(const DTypeOrParam& dtype, const Params& params);

/// The dims. Throws Error for one below 1, and for more than 2^40 elements; `what` names the tensor.
Shape shape_at(const std::vector<PlacedExpression>& dims, const Lookup& lookup, const std::string& what);

}  // namespace assay::external
