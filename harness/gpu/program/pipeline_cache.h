#pragma once

#include "harness/base/once_each.h"
#include "harness/gpu/program/pipeline.h"
#include "harness/gpu/shaders/shader_interface.h"

#include <list>
#include <string>
#include <unordered_map>

namespace assay::gpu {

/// The pipelines of a device that are in use or were lately: dispatches that differ in nothing that a
/// pipeline is made of share one, so that a run of many small cases of one shader creates it once. What the
/// driver tells of a pipeline is kept with it. Any thread may ask.
class PipelineCache : public Device::State::Attachment {
 public:
  /// Pipelines that are kept when nobody uses them; of more than these the one used longest ago goes.
  static constexpr std::size_t most = 512;

  explicit PipelineCache(Device::State& device, std::size_t limit = most) : device_(device), limit_(limit) {}

  /// What create_pipeline() makes of these, which it is asked for once. Throws as it does.
  SharedPipeline get(const Dispatch& dispatch, std::vector<VkDescriptorType> bindings, const Spirv& spirv,
                     std::uint32_t guard);

  /// What the shader declares with the dispatch's constants: read once, too.
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

/// The device's own, made when it is first asked for.
PipelineCache& pipelines_of(Device::State& device);

}  // namespace assay::gpu
