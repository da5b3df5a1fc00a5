#include "harness/gpu/device/vk.h"

#include <fmt/format.h>

namespace assay::gpu {

std::string result_name(VkResult result) {
  switch (result) {
    case VK_SUCCESS:
      return "VK_SUCCESS";
    case VK_TIMEOUT:
      return "VK_TIMEOUT";
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST:
      return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_MEMORY_MAP_FAILED:
      return "VK_ERROR_MEMORY_MAP_FAILED";
    case VK_ERROR_LAYER_NOT_PRESENT:
      return "VK_ERROR_LAYER_NOT_PRESENT";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "VK_ERROR_FEATURE_NOT_PRESENT";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "VK_ERROR_INCOMPATIBLE_DRIVER";
    case VK_ERROR_TOO_MANY_OBJECTS:
      return "VK_ERROR_TOO_MANY_OBJECTS";
    case VK_ERROR_FRAGMENTED_POOL:
      return "VK_ERROR_FRAGMENTED_POOL";
    case VK_ERROR_OUT_OF_POOL_MEMORY:
      return "VK_ERROR_OUT_OF_POOL_MEMORY";
    case VK_ERROR_INVALID_SHADER_NV:
      return "VK_ERROR_INVALID_SHADER_NV";
    case VK_ERROR_UNKNOWN:
      return "VK_ERROR_UNKNOWN";
    default:
      return fmt::format("VkResult {}", static_cast<int>(result));
  }
}

void check(VkResult result, std::string_view doing) {
  if (result >= 0) {
    return;
  }
  const std::string story = fmt::format("{}: {}", doing, result_name(result));
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
      throw OutOfMemory(story);
    case VK_ERROR_DEVICE_LOST:
      throw DeviceLost(story);
    default:
      throw Error(story, ExitCode::Infrastructure);
  }
}

void check_compiled(VkResult result, std::string_view doing) {
  switch (result) {
    case VK_ERROR_INITIALIZATION_FAILED:
    case VK_ERROR_INVALID_SHADER_NV:
    case VK_ERROR_UNKNOWN:
      throw CompileError(
          fmt::format("{}: the driver's compiler gave up on it with {}", doing, result_name(result)));
    default:
      check(result, doing);
  }
}

CompileAttempts compile_in_two_attempts(const std::function<VkResult()>& compile,
                                        const std::function<void()>& asks_again) {
  const VkResult first = compile();
  const bool may_pass = first == VK_ERROR_OUT_OF_DEVICE_MEMORY || first == VK_ERROR_OUT_OF_HOST_MEMORY ||
                        first == VK_ERROR_UNKNOWN;
  if (!may_pass) return {first, 1, ""};
  if (asks_again) asks_again();
  const VkResult second = compile();
  return {second, 2, second == VK_SUCCESS ? result_name(first) : ""};
}

}  // namespace assay::gpu
