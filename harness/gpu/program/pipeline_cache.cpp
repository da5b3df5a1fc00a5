#include "harness/gpu/program/pipeline_cache.h"

#include "harness/gpu/program/specialization.h"
#include "harness/gpu/spirv/declared_constants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace assay::gpu {
namespace {

/// Everything that specializes a shader. The same constants in another order make another key; that costs an
/// extra entry but is never wrong.
std::string specialized_key(const Dispatch& dispatch, const Spirv& spirv, std::uint32_t guard) {
  std::string key =
      fmt::format("{}\nlocal {}\nguard {}\n", spirv.hash, fmt::join(dispatch.local_size, " "), guard);
  if (dispatch.external) key += "external\n";  // its constants are named by id, and it has no guard_words
  for (const SpecConstant& constant : dispatch.constants) {
    key += fmt::format("constant {}={}\n", constant.name, constant.value);
  }
  return key;
}

/// Everything that create_pipeline() depends on, including the label, which debuggers show.
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

SharedPipeline PipelineCache::find(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    return nullptr;
  }
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return by_use_.front().pipeline;
}

void PipelineCache::keep(const std::string& key, SharedPipeline made) {
  by_use_.push_front({key, std::move(made)});
  by_key_.emplace(key, by_use_.begin());
  if (by_use_.size() > limit_) {
    by_key_.erase(by_use_.back().key);
    by_use_.pop_back();  // its users keep it alive
  }
}

SharedPipeline PipelineCache::get(const Dispatch& dispatch, std::vector<VkDescriptorType> bindings,
                                  const Spirv& spirv, std::uint32_t guard) {
  const std::string key = pipeline_key(dispatch, bindings, spirv, guard);
  return once_.get(
      key, [&] { return find(key); },
      [&] {
        return std::make_shared<Pipeline>(
            create_pipeline(device_, dispatch, std::move(bindings), spirv, guard));
      },
      [&](SharedPipeline made) { keep(key, std::move(made)); });
}

std::shared_ptr<const ShaderInterface> PipelineCache::interface(const Dispatch& dispatch, const Spirv& spirv,
                                                                std::uint32_t guard) {
  const std::string key = specialized_key(dispatch, spirv, guard);
  const auto find = [&]() -> std::shared_ptr<const ShaderInterface> {
    const auto found = interfaces_.find(key);
    return found == interfaces_.end() ? nullptr : found->second;
  };
  const auto make = [&] {
    // A kernel from outside has constants of other widths, and names its own by id.
    std::vector<DeclaredConstant> declared;
    if (!dispatch.external) declared = declared_constants(spirv.words);
    ShaderInterface made =
        interface_of(spirv.words, specialization(dispatch, declared, guard, spirv.is_foreign));
    made.knows_guards = std::ranges::find(declared, guard_words, &DeclaredConstant::name) != declared.end();
    return std::make_shared<const ShaderInterface>(std::move(made));
  };
  return once_each_interface_.get(key, find, make, [&](std::shared_ptr<const ShaderInterface> made) {
    if (interfaces_.size() >= limit_) {
      interfaces_.clear();  // small, and soon read again
    }
    interfaces_.emplace(key, std::move(made));
  });
}

PipelineCache& pipelines_of(Device::State& device) {
  std::call_once(device.pipelines_made, [&] { device.pipelines = std::make_unique<PipelineCache>(device); });
  return static_cast<PipelineCache&>(*device.pipelines);
}

}  // namespace assay::gpu
