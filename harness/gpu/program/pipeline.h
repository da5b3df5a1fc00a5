#pragma once

#include "harness/base/parallel.h"
#include "harness/gpu/device/device.h"
#include "harness/gpu/spirv/float_modes.h"
#include "harness/gpu/spirv/shader_interface.h"

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace assay::gpu {

/// The pipeline of one dispatch, ready to be recorded.
struct Pipeline {
  std::vector<VkDescriptorType> bindings;            ///< type of each binding
  std::map<std::uint32_t, std::uint32_t> constants;  ///< specialization constants: value by id
  std::string spirv_hash;
  std::string float_modes;  ///< those that the driver gets beside the SPIR-V's own: with_float_modes()
  Handle<VkDescriptorSetLayout> set_layout;
  Handle<VkPipelineLayout> layout;
  Handle<VkShaderModule> module;
  Handle<VkPipeline> handle;
  double creation_ms = 0;
  std::string driver_retry;                  ///< see Executable::driver_retry; told of all that share it
  std::optional<ExecutableStatistics> told;  ///< statistics of the driver, once queried
};

/// The modes that assay's own programs demand on a device.
FloatModes float_modes_of(const DeviceInfo& device);

/// Dispatches whose pipelines would be equal share one.
using SharedPipeline = std::shared_ptr<Pipeline>;

/// Creates the pipeline of a dispatch. `bindings` are the descriptor types of the dispatch's bindings;
/// `guard` is in bytes. Throws Error when the dispatch does not set exactly the specialization constants of
/// its shader (specialization()). `asks_again`: see compile_in_two_attempts().
Pipeline create_pipeline(Device::State& device, const Dispatch& dispatch,
                         std::vector<VkDescriptorType> bindings, const Spirv& spirv, std::uint32_t guard,
                         const std::function<void()>& asks_again = {},
                         Uninitialized uninitialized = Uninitialized::Usual);

struct CreatedHandle {
  Handle<VkPipeline> handle;
  std::string driver_retry;  ///< see Executable::driver_retry
};

/// Creates another VkPipeline of the same dispatch with `flags`, using the layout, shader and constants of
/// `pipeline`; in two attempts (compile_in_two_attempts()), before the second of which it frees what the
/// memory pool keeps.
CreatedHandle create_handle(Device::State& device, const Dispatch& dispatch, const Pipeline& pipeline,
                            VkPipelineCreateFlags flags, const std::function<void()>& asks_again = {});

/// The descriptor type by which a resource of `form` is bound.
VkDescriptorType descriptor_type(Form form, Binding::Access access);

/// The pipelines of a device that are in use or were used recently. Dispatches whose pipelines would be equal
/// share one, so a run of many small cases of one shader creates it once. The driver's statistics are kept
/// with the pipeline. Thread-safe.
class PipelineCache : public Device::State::Attachment {
 public:
  /// Number of unused pipelines that are kept; beyond it the least recently used one is dropped.
  static constexpr std::size_t most = 512;

  explicit PipelineCache(Device::State& device, std::size_t limit = most) : device_(device), limit_(limit) {}

  /// The pipeline of these arguments; create_pipeline() is called at most once for each. Throws as it does.
  /// `asks_again` is called only by this thread, and so not if another one creates the pipeline.
  SharedPipeline get(const Dispatch& dispatch, std::vector<VkDescriptorType> bindings, const Spirv& spirv,
                     std::uint32_t guard, const std::function<void()>& asks_again = {},
                     Uninitialized uninitialized = Uninitialized::Usual);

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

/// One statistic of a compiled shader, under the driver's name for it.
struct DriverStatistic {
  std::string_view name;
  double value = 0;
  std::uint32_t subgroup_size = 0;  ///< the shader's; 0: unknown
};

/// Adds `one` to `all` if its name is known; each figure is the largest one seen. Names differ by driver, and
/// most (instructions, latencies, hashes) are ignored.
void add_statistic(ExecutableStatistics& all, const DriverStatistic& one);

/// Merges `some` into `all`: the larger of each figure; a figure that only one of them has is kept.
void add_statistics(ExecutableStatistics& all, const ExecutableStatistics& some);

/// The driver's statistics of a dispatch, empty when it reports none. They come from a throw-away pipeline
/// that is created with the flag that captures statistics: drivers may bypass their caches for it, so it must
/// affect neither timed pipelines nor compile_ms. The result is stored in `pipeline`, which is queried only
/// once.
ExecutableStatistics statistics_of(Device::State& device, const Dispatch& dispatch, Pipeline& pipeline);

}  // namespace assay::gpu
