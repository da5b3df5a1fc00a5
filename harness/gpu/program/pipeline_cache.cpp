#include "harness/gpu/program/pipeline_cache.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <utility>

namespace assay::gpu {
namespace {

/// All that create_pipeline() looks at, the label included, which debuggers show. Constants may come in any
/// order: two orders of the same ones are two pipelines, which costs one more and is never wrong.
std::string key_of(const Dispatch& dispatch, std::span<const VkDescriptorType> bindings, const Spirv& spirv,
                   std::uint32_t guard) {
  std::string key =
      fmt::format("{}\n{}\n{}\nlocal {}\nsubgroup {}\nshared {}\npush {}\nguard {}\n", spirv.hash,
                  dispatch.shader, dispatch.label, fmt::join(dispatch.local_size, " "),
                  dispatch.subgroup_size, dispatch.shared_bytes, dispatch.push.words().size(), guard);
  for (const SpecConstant& constant : dispatch.constants) {
    key += fmt::format("constant {}={}\n", constant.name, constant.value);
  }
  for (const VkDescriptorType type : bindings) {
    key += fmt::format("binding {}\n", static_cast<int>(type));
  }
  return key;
}

}  // namespace

SharedPipeline PipelineCache::get(const Dispatch& dispatch, std::vector<VkDescriptorType> bindings,
                                  const Spirv& spirv, std::uint32_t guard) {
  std::string key = key_of(dispatch, bindings, spirv, guard);
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

PipelineCache& pipelines_of(Device::State& device) {
  if (!device.pipelines) {
    device.pipelines = std::make_unique<PipelineCache>(device);
  }
  return static_cast<PipelineCache&>(*device.pipelines);
}

}  // namespace assay::gpu
