#pragma once

#include "harness/external/expression/expression.h"
#include "harness/external/manifest/manifest.h"
#include "harness/op/op.h"

#include <optional>
#include <span>
#include <string>

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

/// The program of an impl at a point on a device. Throws Error with the place in the manifest for an
/// expression that has no value there, or one that makes no sense.
Program program_at(const Manifest& manifest, const DeclaredImpl& impl, const BuildContext& at);

/// The reason of the first exclusion that holds; nothing if none does.
std::optional<std::string> why_excluded(const DeclaredImpl& impl, const ImplPoint& at);

/// Which dispatch has more workgroups than the device takes, with both numbers; nothing if none has.
std::optional<std::string> why_beyond_device(const DeclaredImpl& impl, const BuildContext& at);

}  // namespace assay::external
