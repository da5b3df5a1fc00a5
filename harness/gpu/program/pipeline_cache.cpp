#include "harness/gpu/program/pipeline_cache.h"

#include "harness/gpu/program/specialization.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <utility>

namespace assay::gpu {
namespace {

/// All that specializes a shader. Constants may come in any order: two orders of the same ones are two
/// entries, which costs one more and is never wrong.
std::string specialized_key(const Dispatch& dispatch, const Spirv& spirv, std::uint32_t guard) {
  std::string key =
      fmt::format("{}\nlocal {}\nguard {}\n", spirv.hash, fmt::join(dispatch.local_size, " "), guard);
  for (const SpecConstant& constant : dispatch.constants) {
    key += fmt::format("constant {}={}\n", constant.name, constant.value);
  }
  return key;
}

/// All that create_pipeline() looks at, the label included, which debuggers show.
std::string pipeline_key(const Dispatch& dispatch, std::span<const VkDescriptorType> bindings,
                         const Spirv& spirv, std::uint32_t guard) {
  std::string key = specialized_key(dispatch, spirv, guard);
  key += fmt::format("{}\n{}\nsubgroup {}\npush {}\n", dispatch.shader, dispatch.label,
                     dispatch.subgroup_size, dispatch.push.words().size());
  for (const VkDescriptorType type : bindings) {
    key += fmt::format("binding {}\n", static_cast<int>(type));
  }
  return key;
}

}  // namespace

SharedPipeline PipelineCache::get(const Dispatch& dispatch, std::vector<VkDescriptorType> bindings,
                                  const Spirv& spirv, std::uint32_t guard) {
  std::string key = pipeline_key(dispatch, bindings, spirv, guard);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return by_use_.front().pipeline;
  }
  auto made =
      std::make_shared<Pipeline>(create_pipeline(device_, dispatch, std::move(bindings), spirv, guard));
  by_use_.push_front({key, made});
  by_key_.emplace(std::move(key), by_use_.begin());
  if (by_use_.size() > limit_) {
    by_key_.erase(by_use_.back().key);
    by_use_.pop_back();  // whoever uses it still holds it
  }
  return made;
}

const ShaderInterface& PipelineCache::interface(const Dispatch& dispatch, const Spirv& spirv,
                                                std::uint32_t guard) {
  std::string key = specialized_key(dispatch, spirv, guard);
  if (const auto found = interfaces_.find(key); found != interfaces_.end()) {
    return found->second;
  }
  if (interfaces_.size() >= limit_) {
    interfaces_.clear();  // small, and soon read again
  }
  const auto values = specialization(dispatch, spirv.words, guard);
  return interfaces_.emplace(std::move(key), interface_of(spirv.words, values)).first->second;
}

PipelineCache& pipelines_of(Device::State& device) {
  if (!device.pipelines) {
    device.pipelines = std::make_unique<PipelineCache>(device);
  }
  return static_cast<PipelineCache&>(*device.pipelines);
}

}  // namespace assay::gpu
