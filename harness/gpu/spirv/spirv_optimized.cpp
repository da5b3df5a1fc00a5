#include "harness/gpu/spirv/spirv_optimized.h"

#include <spirv-tools/optimizer.hpp>

namespace assay::gpu {

std::vector<std::uint32_t> optimized(const std::vector<std::uint32_t>& words) {
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_1);
  optimizer.SetMessageConsumer([](auto&&...) {});
  optimizer.RegisterPass(spvtools::CreateStripDebugInfoPass());
  optimizer.RegisterPerformancePasses();
  optimizer.RegisterPass(spvtools::CreateCompactIdsPass());
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  std::vector<std::uint32_t> result;
  return optimizer.Run(words.data(), words.size(), &result, options) ? result : words;
}

}  // namespace assay::gpu
