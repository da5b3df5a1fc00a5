#pragma once

#include "harness/gpu/memory/workspace.h"
#include "harness/gpu/program/pipeline.h"

#include <map>

namespace assay::gpu {

/// The descriptor sets that tie a program's pipelines to one workspace, one set a dispatch.
class Bindings {
 public:
  Bindings(const DeviceTable& table, const Program& program, std::span<const SharedPipeline> pipelines,
           const Workspace::State& workspace);
  /// Of a program of one dispatch, whose bindings are given.
  Bindings(const DeviceTable& table, const Program& program, std::span<const SharedPipeline> pipelines,
           std::span<const Descriptor> descriptors);

  VkDescriptorSet set(std::size_t dispatch) const { return sets_[dispatch]; }

 private:
  void create_pool(const DeviceTable& table, std::span<const SharedPipeline> pipelines);
  void allocate(const DeviceTable& table, std::span<const SharedPipeline> pipelines);
  void point(const DeviceTable& table, const Dispatch& dispatch, const Pipeline& pipeline,
             VkDescriptorSet set, std::span<const Descriptor> descriptors) const;

  Handle<VkDescriptorPool> pool_;  ///< frees the sets with it
  std::vector<VkDescriptorSet> sets_;
};

/// The bindings of an executable by workspace: made once, used by every submission, forgotten when there are
/// many. Valid because workspaces have ids that are never used again.
class BindingsCache {
 public:
  static constexpr std::size_t most = 64;

  /// One for each workspace, in order; valid until the next call.
  std::vector<const Bindings*> get(const DeviceTable& table, const Program& program,
                                   std::span<const SharedPipeline> pipelines,
                                   std::span<const Workspace::State* const> workspaces);

 private:
  std::map<std::uint64_t, Bindings> by_workspace_;
};

}  // namespace assay::gpu
