#include "harness/base/error.h"
#include "ops/linear/impls.h"
#include "ops/linear/tensors.h"
#include "references/linear/linear_real.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace assay::ops {
namespace {

constexpr std::int64_t values_of_a_word = 8;  // int4 ones

/// The parameters of linear_q4gsw for the same product: the one group of a channel is all of K.
Params with_groups(const Params& params) {
  Params made = params;
  made.set("group_size", params.integer("K"));
  return made;
}

std::vector<TensorSpec> tensors(const Params& params) {
  if (const std::int64_t k = params.integer("K"); k % values_of_a_word != 0) {
    throw ParameterError(
        "K", fmt::format("K is {}, but must be a multiple of 8, the number of values in a word", k));
  }
  const references::Linear linear = references::linear_params(with_groups(params), references::any_depth);
  std::vector<TensorSpec> inputs = int4_weights(linear);
  inputs.back().shape = {linear.n};
  inputs.insert(inputs.begin(), real_x(linear));
  return with_bias(linear, std::move(inputs), real_y(linear));
}

std::vector<Expected> reference(const Params& params, std::span<const HostTensor> inputs) {
  return references::linear_q4gsw(with_groups(params), inputs);
}

/// A function of a point of linear_q4gsw, for points of this op.
template <class Result>
void give_groups(std::function<Result(const BuildContext&)>& of) {
  if (!of) return;
  of = [of = std::move(of)](const BuildContext& context) {
    const Params params = with_groups(context.params);
    return of({params, context.tensors, context.forms, context.device, context.tune});
  };
}

Impl with_groups(Impl impl) {
  give_groups(impl.build);
  give_groups(impl.choose);
  give_groups(impl.ceiling_here);
  give_groups(impl.skipped_reason);
  give_groups(impl.unsupported_reason);
  give_groups(impl.unit_error);
  if (impl.invalid_reason) {
    impl.invalid_reason = [of = std::move(impl.invalid_reason)](const ImplPoint& point) {
      const Params params = with_groups(point.params);
      return of({params, point.tensors, point.forms, point.tune});
    };
  }
  return impl;
}

}  // namespace

Op linear_q4csw() {
  Op op{.name = "linear_q4csw",
        .summary = "linear layer: real x, int4 weights with one scale per output channel",
        .params = linear_params({real_dtype_param("type of x and y")}),
        .tensors = tensors,
        .reference = reference,
        .work = linear_work,
        .tokens = linear_tokens};
  for (Impl& impl : linear_impls({XKind::Real, WeightKind::Int4LowFirst})) {
    op.impls.push_back(with_groups(std::move(impl)));
  }
  return op;
}

}  // namespace assay::ops
