#include "harness/gpu/limits.h"

#include "harness/gpu/gpu.h"
#include "harness/gpu/text.h"

#include <fmt/format.h>

namespace assay::gpu {
namespace {

using Reason = std::optional<std::string>;

Reason missing_feature(std::span<const Feature> needs, const DeviceInfo& device) {
  for (const Feature feature : needs) {
    if (!device.has(feature)) {
      return fmt::format("{} is missing", name_of(feature));
    }
  }
  return std::nullopt;
}

Reason beyond(const Dispatch& dispatch, std::string_view what, std::uint64_t asked,
              std::string_view limit_name, std::uint64_t limit) {
  if (asked <= limit) {
    return std::nullopt;
  }
  return fmt::format("dispatch '{}' needs {} {}, {} is {}", dispatch.label, asked, what, limit_name, limit);
}

Reason beyond_workgroup(const Dispatch& dispatch, const DeviceInfo& device) {
  std::uint64_t invocations = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    invocations *= dispatch.local_size[i];
    if (auto reason = beyond(dispatch, "invocations in one dimension of a workgroup", dispatch.local_size[i],
                             fmt::format("maxComputeWorkGroupSize[{}]", i), device.max_workgroup_size[i])) {
      return reason;
    }
    if (auto reason = beyond(dispatch, "workgroups in one dimension", dispatch.workgroups[i],
                             fmt::format("maxComputeWorkGroupCount[{}]", i), device.max_workgroup_count[i])) {
      return reason;
    }
  }
  return beyond(dispatch, "invocations in a workgroup", invocations, "maxComputeWorkGroupInvocations",
                device.max_workgroup_invocations);
}

Reason beyond_interface(const Dispatch& dispatch, const DeviceInfo& device) {
  if (auto reason = beyond(dispatch, "bytes of shared memory", dispatch.shared_bytes,
                           "maxComputeSharedMemorySize", device.max_shared_bytes)) {
    return reason;
  }
  if (auto reason =
          beyond(dispatch, "bytes of push constants", dispatch.push.words().size() * sizeof(std::uint32_t),
                 "maxPushConstantsSize", device.max_push_constant_bytes)) {
    return reason;
  }
  return beyond(dispatch, "storage buffers", dispatch.bindings.size(), "maxPerStageDescriptorStorageBuffers",
                device.max_storage_buffers_per_stage);
}

Reason cannot_hold(const std::string& name, const Physical& physical, std::uint32_t guard,
                   const DeviceInfo& device) {
  if (physical.form().storage != Storage::Buffer) {
    return fmt::format("texture storage is not implemented yet: {}", to_string(physical.form()));
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(physical.bytes()) + 2 * std::uint64_t{guard};
  if (bytes > device.max_storage_buffer_range) {
    return fmt::format("buffer '{}' needs {}, maxStorageBufferRange is {}", name, bytes_text(bytes),
                       bytes_text(device.max_storage_buffer_range));
  }
  return std::nullopt;
}

Reason cannot_hold_all(const Program& program, std::span<const Physical> tensors, std::uint32_t guard,
                       const DeviceInfo& device, std::span<const std::string> names) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string name = i < names.size() ? names[i] : fmt::format("tensor {}", i);
    if (auto reason = cannot_hold(name, tensors[i], guard, device)) {
      return reason;
    }
  }
  for (const Scratch& scratch : program.scratch) {
    const Physical physical(scratch.form, scratch.dtype, scratch.shape);
    if (auto reason = cannot_hold(scratch.name, physical, guard, device)) {
      return reason;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> beyond_limits(const Program& program, const DeviceInfo& device) {
  for (const Dispatch& dispatch : program.dispatches) {
    if (auto reason = beyond_workgroup(dispatch, device)) {
      return reason;
    }
    if (auto reason = beyond_interface(dispatch, device)) {
      return reason;
    }
  }
  return std::nullopt;
}

std::optional<std::string> unsupported(const Program& program, std::span<const Physical> tensors,
                                       std::span<const Feature> needs, const DeviceInfo& device,
                                       std::uint32_t guard, std::span<const std::string> names) {
  if (auto reason = missing_feature(needs, device)) {
    return reason;
  }
  if (auto reason = beyond_limits(program, device)) {
    return reason;
  }
  return cannot_hold_all(program, tensors, guard, device, names);
}

}  // namespace assay::gpu
