#pragma once

#include "harness/base/once_each.h"
#include "harness/gpu/program/pipeline.h"
#include "harness/gpu/spirv/shader_interface.h"

#include <list>
#include <string>
#include <unordered_map>

namespace assay::gpu {

/// The pipelines of a device that are in use or were used recently. Dispatches whose pipelines would be equal
/// share one, so a run of many small cases of one shader creates it once. The driver's statistics are kept
/// with the pipeline. Thread-safe.
class PipelineCache : public Device::State::Attachment {
 public:
  /// Number of unused pipelines that are kept; beyond it the least recently used one is dropped.
  static constexpr std::size_t most = 512;

  explicit PipelineCache(Device::State& device, std::size_t limit = most) : device_(device), limit_(limit) {}

  /// The pipeline of these arguments; create_pipeline() is called at most once for each. Throws as it does.
  SharedPipeline get(const Dispatch& dispatch, std::vector<VkDescriptorType> bindings, const Spirv& spirv,
                     std::uint32_t guard);

  /// The shader's interface with the dispatch's specialization constants; each is read once, too.
  std::shared_ptr<const ShaderInterface> interface(const Dispatch& dispatch, const Spirv& spirv,
                                                   std::uint32_t guard);

  std::size_t size() const {
    return once_.look([this] { return by_use_.size(); });
  }

 private:
  struct Entry {
    std::string key;
    SharedPipeline pipeline;
  };

  SharedPipeline find(const std::string& key);
  void keep(const std::string& key, SharedPipeline made);

  Device::State& device_;
  std::size_t limit_;
  OnceEach<std::string> once_;  ///< guards the next two
  std::list<Entry> by_use_;     ///< the newest first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
  OnceEach<std::string> once_each_interface_;
  std::unordered_map<std::string, std::shared_ptr<const ShaderInterface>> interfaces_;
};

/// The device's own pipeline cache, made when it is first needed.
PipelineCache& pipelines_of(Device::State& device);

}  // namespace assay::gpu
