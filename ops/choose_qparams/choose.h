#pragma once

#include "harness/op/op.h"
#include "references/choose_qparams/choose_qparams.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::ops {

/// Reads the parameters of an op that chooses scales and zero points.
using ChooseOf = std::function<references::ChooseQParams(const Params&)>;

/// The parameter dtype, which is f32 or f16.
ParamSpec real_param();
/// The parameters `before`, then quantized, quant_min and quant_max, then `after`.
std::vector<ParamSpec> with_quant_params(std::vector<ParamSpec> before, std::vector<ParamSpec> after = {});
ParamSpec mapping_param();
ParamSpec eps_param();  ///< the least scale; 2^-23 by default

/// The input x, in any float form.
TensorSpec choose_input(const references::ChooseQParams& op);
/// The outputs scale and zero_point, with one value per block.
std::vector<TensorSpec> choose_outputs(const references::ChooseQParams& op);

/// An op that computes scale and zero point of each block of its one input, with the impls serial, workgroup
/// and auto.
Op choose_op(std::string name, std::string summary, std::vector<ParamSpec> params, const ChooseOf& choose);

/// The program of impl `workgroup` for x, scale and zero point, the tensors of `context`.
Program choose_program(const BuildContext& context, const references::ChooseQParams& op);

/// The value of the #define RULE for this rule.
std::string rule_define(references::QParamsRule rule);

/// The tunables of impl `workgroup`: its invocations, vectors per invocation, and the workgroups that share a
/// block.
std::vector<Tunable> choose_tunables();

/// Why kernels that count with 32-bit integers cannot take x, or nothing.
std::optional<std::string> too_large_to_choose(std::span<const TensorSpec> tensors,
                                               std::span<const Form> forms);

}  // namespace assay::ops
