#include "ops/convolution/convolution_test_support.h"

#include <utility>

namespace assay::test {

Params ConvolutionTest::params_of(const Op& op, const ConvolutionSizes& sizes) {
  Params params;
  for (const auto& [name, value] : {std::pair{"N", sizes.n},
                                    {"C", sizes.c},
                                    {"H", sizes.h},
                                    {"W", sizes.w},
                                    {"OC", sizes.oc},
                                    {"groups", sizes.groups}}) {
    params.set(name, value);
  }
  for (const auto& [name, value] : {std::pair{"kernel", sizes.kernel},
                                    {"stride", sizes.stride},
                                    {"padding", sizes.padding},
                                    {"dilation", sizes.dilation}}) {
    params.set(name, value);
  }
  if (op.find_param("output_padding") != nullptr) params.set("output_padding", sizes.output_padding);
  if (op.find_param("x") != nullptr) params.set("x", QParams{0.02F, -11});
  if (!sizes.dtype.empty()) params.set("dtype", sizes.dtype);
  return with_defaults(op, std::move(params));
}

Trial ConvolutionTest::trial_of(const std::string& op, const std::string& impl,
                                const ConvolutionSizes& sizes) const {
  Trial trial{.op = &op_of(op), .params = params_of(op_of(op), sizes), .seed = 7, .impl = impl};
  trial.forms = first_forms(*trial.op, trial.params);
  return trial;
}

}  // namespace assay::test
