#include "ops/convolution/integer_ops.h"

#include "ops/linear/requantizers.h"
#include "ops/linear/tensors.h"
#include "references/convolution/q8ta_conv2d.h"

#include <utility>

namespace assay::ops {

using references::Convolution;

Op integer_convolution(std::string name, std::string summary, ConvolutionKind kind, Layout default_layout,
                       std::vector<Impl> impls) {
  const auto tensors = [kind, default_layout](const Params& params) {
    const Convolution conv = convolution_of(params, kind, references::most_depth_with_zero_point);
    if (params.choice("epilogue") == "fixed_point") check_fixed_point(params);
    const std::vector<Form> forms = channel_word_forms(default_layout);
    return convolution_tensors(conv, int8_images("x", conv, forms), int8_images("y", conv, forms));
  };
  return {.name = std::move(name),
          .summary = std::move(summary),
          .params = convolution_params(kind, {qparams("x"), convolution_y_qparams_param(), epilogue_param()}),
          .tensors = tensors,
          .reference = references::q8ta_conv2d,
          .work = convolution_work,
          .impls = std::move(impls)};
}

}  // namespace assay::ops
