#pragma once

#include "harness/base/error.h"
#include "harness/external/manifest/manifest.h"
#include "harness/op/op.h"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay::external {

/// An error at a place in a manifest.
struct PlacedError : Error {
  PlacedError(SourceLocation place, std::string text)
      : Error(fmt::format("{}:{}:{}: {}", place.file, place.line, place.column, text)),
        where(std::move(place)),
        message(std::move(text)) {}

  SourceLocation where;
  std::string message;  ///< without the place
};

/// The op of assay whose reference answers for a manifest's op.
class OtherOp {
 public:
  /// Throws Error with the place in the manifest for an op, a parameter or a tensor that there is not.
  OtherOp(const Manifest& manifest, const Registry& registry);

  const Op& op() const { return *op_; }

  /// Completes the manifest's tensors at a point with what the other op says of them: the class of outputs,
  /// values that inputs may take, why trivial answers can be right. Throws Error where they do not fit.
  void complete(const Params& params, std::vector<TensorSpec>& own) const;

  /// The other op's answers for `outputs`, which complete() has seen; `inputs` are the manifest's.
  std::vector<Expected> answers(const Params& params, std::span<const TensorSpec> own,
                                std::span<const HostTensor> inputs) const;

 private:
  Params params_of(const Params& own) const;
  std::vector<TensorSpec> tensors_of(const Params& params) const;  ///< the other op's
  Value value_of(const DeclaredArgument& argument, const ParamSpec& spec, const Params& own) const;
  void take_domain(const TensorSpec& there, TensorSpec& here) const;
  void check_names(std::span<const TensorSpec> theirs) const;
  const std::string& own_name(const std::string& tensor) const;

  DeclaredOtherOp declared_;
  std::shared_ptr<const Op> op_;
};

}  // namespace assay::external
