#pragma once

#include "harness/gpu/memory/workspace.h"
#include "harness/gpu/program/pipeline.h"
#include "harness/gpu/program/uniform_buffers.h"

#include <map>

namespace assay::gpu {

/// The descriptor sets that bind one workspace to a program's pipelines: one set per dispatch.
class Bindings {
 public:
  Bindings(const DeviceTable& table, const Program& program, std::span<const SharedPipeline> pipelines,
           const Workspace::State& workspace, const UniformBuffers& uniforms = {});
  /// Binds the given descriptors to a program that has a single dispatch.
  Bindings(const DeviceTable& table, const Program& program, std::span<const SharedPipeline> pipelines,
           std::span<const Descriptor> descriptors);

  VkDescriptorSet set(std::size_t dispatch) const { return sets_[dispatch]; }

 private:
  void create_pool(const DeviceTable& table, std::span<const SharedPipeline> pipelines);
  void allocate(const DeviceTable& table, std::span<const SharedPipeline> pipelines);
  void point(const DeviceTable& table, const Dispatch& dispatch, const Pipeline& pipeline,
             VkDescriptorSet set, std::span<const Descriptor> descriptors) const;

  Handle<VkDescriptorPool> pool_;  ///< owns the sets
  std::vector<VkDescriptorSet> sets_;
};

/// The bindings of an executable for each workspace: made once, used by every submission, dropped when there
/// are more than `most`. Workspace ids are never reused, so an entry never refers to another workspace.
class BindingsCache {
 public:
  static constexpr std::size_t most = 64;

  /// Bindings for each workspace, in order; valid until the next call.
  std::vector<const Bindings*> get(const DeviceTable& table, const Program& program,
                                   std::span<const SharedPipeline> pipelines, const UniformBuffers& uniforms,
                                   std::span<const Workspace::State* const> workspaces);

 private:
  std::map<std::uint64_t, Bindings> by_workspace_;
};

}  // namespace assay::gpu
