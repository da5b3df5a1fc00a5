#pragma once

#include "harness/op/op.h"
#include "references/choose_qparams.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::ops {

/// What an op that chooses scales and zero points makes of its parameters.
using ChooseOf = std::function<references::ChooseQParams(const Params&)>;

/// The parameters that such ops share.
ParamSpec real_param();  ///< dtype
/// `before`, then quantized, quant_min and quant_max, then `after`.
std::vector<ParamSpec> with_quant_params(std::vector<ParamSpec> before, std::vector<ParamSpec> after = {});
ParamSpec mapping_param();
ParamSpec eps_param();  ///< the least scale, 2^-23 unless said

/// x in any float form.
TensorSpec choose_input(const references::ChooseQParams& op);
/// scale and zero_point, one value a block.
std::vector<TensorSpec> choose_outputs(const references::ChooseQParams& op);

/// An op of one input and its blocks' scale and zero point, with the impls serial, workgroup and auto.
Op choose_op(std::string name, std::string summary, std::vector<ParamSpec> params, const ChooseOf& choose);

/// The program of impl `workgroup`, over x, scale and zero point.
Program choose_program(const BuildContext& context, const references::ChooseQParams& op);

/// The value of the #define RULE.
std::string rule_define(references::QParamsRule rule);

/// What impl `workgroup` may set: invocations, workgroups that share a block.
std::vector<Tunable> choose_tunables();

/// Why kernels that count in 32-bit numbers cannot take x, or nothing.
std::optional<std::string> too_large_to_choose(std::span<const TensorSpec> tensors,
                                               std::span<const Form> forms);

}  // namespace assay::ops
