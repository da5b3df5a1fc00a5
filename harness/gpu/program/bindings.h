#pragma once

#include "harness/gpu/memory/workspace.h"
#include "harness/gpu/program/external_call.h"
#include "harness/gpu/program/pipeline.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace assay::gpu {

/// The uniform buffers of a program's dispatches: written once, bound after the tensors and scratch.
class UniformBuffers {
 public:
  UniformBuffers() = default;
  /// `blocks` has the uniform blocks of each dispatch. Throws OutOfMemory.
  UniformBuffers(Device::State& device, std::span<const std::vector<UniformBlock>> blocks);

  /// What the dispatch binds after its tensors and scratch, in order.
  std::span<const Descriptor> of(std::size_t dispatch) const;

 private:
  struct Owned {
    Buffer buffer;
    std::unique_ptr<MemoryBlock> memory;
  };

  std::vector<Owned> owned_;
  std::vector<std::vector<Descriptor>> descriptors_;  ///< by dispatch; empty: none has any
};

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

/// Which dispatches of a program are recorded.
enum class Part : std::uint8_t { All, Setup, Timed };
bool belongs(DispatchRole role, Part part);

/// A program with its pipelines. It can be recorded any number of times, each time with other bindings (so
/// that a batch may rotate over several workspaces).
struct Recordable {
  const DeviceTable& table;
  const Program& program;
  std::span<const SharedPipeline> pipelines;

  /// Records the dispatches of `part` in order, with a full compute barrier between each two. There is no
  /// barrier before the first or after the last: that depends on what surrounds the program. `after_each`, if
  /// given, is called after each dispatch and its barrier, and after the last dispatch.
  void record(VkCommandBuffer commands, const Bindings& bindings, Part part,
              const std::function<void()>& after_each = {}) const;

 private:
  void record_dispatch(VkCommandBuffer commands, const Bindings& bindings, std::size_t index) const;
};

/// Work that a submission can record at its end. Barriers around it are the caller's.
struct AppendedWork {
  AppendedWork() = default;
  AppendedWork(const AppendedWork&) = delete;
  AppendedWork& operator=(const AppendedWork&) = delete;
  virtual ~AppendedWork() = default;
  virtual void record(VkCommandBuffer commands) = 0;
};

}  // namespace assay::gpu
