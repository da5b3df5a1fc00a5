#include "harness/gpu/program/pipeline.h"

#include "harness/base/hash.h"
#include "harness/gpu/memory/memory_pool.h"
#include "harness/gpu/program/specialization.h"
#include "harness/gpu/spirv/module_declarations.h"
#include "harness/gpu/spirv/spirv_rewrites.h"
#include "harness/gpu/spirv/uninitialized.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>

namespace assay::gpu {
namespace {

using Field = std::optional<std::int64_t> ExecutableStatistics::*;

Handle<VkDescriptorSetLayout> create_set_layout(const DeviceTable& table, const Dispatch& dispatch,
                                                std::span<const VkDescriptorType> types) {
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    bindings.push_back({.binding = i,
                        .descriptorType = types[i],
                        .descriptorCount = 1,
                        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                        .pImmutableSamplers = nullptr});
  }
  VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  info.bindingCount = static_cast<std::uint32_t>(bindings.size());
  info.pBindings = bindings.data();
  VkDescriptorSetLayout layout = VK_NULL_HANDLE;
  check(table.vk.vkCreateDescriptorSetLayout(table.device, &info, nullptr, &layout),
        fmt::format("creating the descriptor layout of dispatch '{}'", dispatch.label));
  return {table, layout, table.vk.vkDestroyDescriptorSetLayout};
}

Handle<VkPipelineLayout> create_layout(const DeviceTable& table, const Dispatch& dispatch,
                                       VkDescriptorSetLayout set_layout) {
  const VkPushConstantRange range{
      .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
      .offset = 0,
      .size = static_cast<std::uint32_t>(dispatch.push.words().size() * sizeof(std::uint32_t))};
  VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = 1;
  info.pSetLayouts = &set_layout;
  info.pushConstantRangeCount = range.size > 0 ? 1 : 0;
  info.pPushConstantRanges = &range;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  check(table.vk.vkCreatePipelineLayout(table.device, &info, nullptr, &layout),
        fmt::format("creating the pipeline layout of dispatch '{}'", dispatch.label));
  return {table, layout, table.vk.vkDestroyPipelineLayout};
}

/// Values of specialization constants in Vulkan's layout.
struct SpecializationData {
  explicit SpecializationData(const std::map<std::uint32_t, std::uint32_t>& by_id) {
    for (const auto& [id, value] : by_id) {
      entries.push_back({.constantID = id,
                         .offset = static_cast<std::uint32_t>(values.size() * sizeof(value)),
                         .size = sizeof(value)});
      values.push_back(value);
    }
  }

  VkSpecializationInfo info() const {
    return {.mapEntryCount = static_cast<std::uint32_t>(entries.size()),
            .pMapEntries = entries.data(),
            .dataSize = values.size() * sizeof(std::uint32_t),
            .pData = values.data()};
  }

  std::vector<VkSpecializationMapEntry> entries;
  std::vector<std::uint32_t> values;
};

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
                         const Spirv& spirv, std::uint32_t guard, Uninitialized uninitialized) {
  std::string key = specialized_key(dispatch, spirv, guard);
  key += fmt::format("{}\n{}\nsubgroup {}\npush {}\nuninitialized {}\n", dispatch.shader, dispatch.label,
                     dispatch.subgroup_size, dispatch.push.words().size(), static_cast<int>(uninitialized));
  for (const VkDescriptorType type : bindings) {
    key += fmt::format("binding {}\n", static_cast<int>(type));
  }
  return key;
}

PoisonSign sign_of(Uninitialized uninitialized, std::string_view key) {
  const bool is_negative = (hash64(key) % 2 == 1) != (uninitialized == Uninitialized::Other);
  return is_negative ? PoisonSign::Negative : PoisonSign::Positive;
}

/// Ops of others run as they are: whoever wrote them has chosen their modes. A kernel of a --shaders folder
/// takes the place of one of assay's, with which it is compared, and runs in the same modes.
FloatModes float_modes_for(const DeviceInfo& device, const Dispatch& dispatch) {
  return dispatch.external ? FloatModes{} : float_modes_of(device);
}

/// The words of the shader as the device gets them, with the modes of floats that it is given.
ModuleWithModes module_for(const Device::State& device, const Dispatch& dispatch, const Spirv& spirv,
                           const std::map<std::uint32_t, std::uint32_t>& constants, PoisonSign sign) {
  ModuleWithModes module = with_float_modes(spirv.words, float_modes_for(device.info(), dispatch));
  if (device.clears_workgroup_memory) module.words = with_cleared_workgroup_memory(module.words);
  if (device.info().is_cpu()) module.words = with_poisoned_variables(module.words, constants, sign);
  return module;
}

Handle<VkShaderModule> create_module(const Device::State& device, const Dispatch& dispatch,
                                     std::span<const std::uint32_t> words) {
  const DeviceTable& table = device.table;
  VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = words.size_bytes();
  info.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(table.vk.vkCreateShaderModule(table.device, &info, nullptr, &module),
        fmt::format("creating the shader module of '{}'", dispatch.shader));
  return {table, module, table.vk.vkDestroyShaderModule};
}

enum class Unit : std::uint8_t {
  AsIs,         ///< registers or bytes, unchanged
  Words,        ///< 32-bit words per invocation
  PerSubgroup,  ///< bytes per subgroup
};

struct Meaning {
  std::string_view name;  ///< lower case
  Field field;
  Unit unit;
};

constexpr Field registers = &ExecutableStatistics::registers;
constexpr Field spill_bytes = &ExecutableStatistics::spill_bytes;
constexpr Field shared_bytes = &ExecutableStatistics::shared_bytes;

constexpr std::array meanings{
    // NVIDIA
    Meaning{"register count", registers, Unit::AsIs},
    Meaning{"local memory size", spill_bytes, Unit::AsIs},
    Meaning{"shared memory size", shared_bytes, Unit::AsIs},
    // NVK
    Meaning{"number of gprs", registers, Unit::AsIs},
    Meaning{"slm size", spill_bytes, Unit::AsIs},
    // RADV: private memory includes spills and data that cannot be in registers at all
    Meaning{"vgprs", registers, Unit::AsIs},
    Meaning{"spilled vgprs", spill_bytes, Unit::Words},
    Meaning{"scratch size", spill_bytes, Unit::PerSubgroup},
    Meaning{"lds size", shared_bytes, Unit::AsIs},
    // AMD's proprietary driver
    Meaning{"numusedvgprs", registers, Unit::AsIs},
    Meaning{"ldsusagesizeinbytes", shared_bytes, Unit::AsIs},
    // ANV, which counts memory per hardware thread, its subgroup
    Meaning{"grf registers", registers, Unit::AsIs},
    Meaning{"scratch memory size", spill_bytes, Unit::PerSubgroup},
    Meaning{"workgroup memory size", shared_bytes, Unit::AsIs},
    // Turnip
    Meaning{"registers used", registers, Unit::AsIs},
    // Panfrost and Mali
    Meaning{"registers", registers, Unit::AsIs},
    Meaning{"work registers", registers, Unit::AsIs},
    // Honeykrisp
    Meaning{"gprs", registers, Unit::AsIs},
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// The value in our unit; nothing if it is invalid, or per subgroup when the subgroup size is unknown.
std::optional<std::int64_t> converted(const DriverStatistic& one, Unit unit) {
  constexpr double most = 1 << 24;  // larger values are wrong; seen: 2^36 without any spills
  double value = one.value;
  if (unit == Unit::Words) {
    value *= 4;
  }
  if (unit == Unit::PerSubgroup) {
    value = value == 0 ? 0 : value / one.subgroup_size;
  }
  if (!(value >= 0 && value < most)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(std::ceil(value));
}

void keep_larger(std::optional<std::int64_t>& kept, std::optional<std::int64_t> other) {
  if (other) {
    kept = std::max(kept.value_or(0), *other);
  }
}

double value_of(const VkPipelineExecutableStatisticKHR& statistic) {
  switch (statistic.format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
      return statistic.value.b32 ? 1 : 0;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
      return static_cast<double>(statistic.value.i64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
      return static_cast<double>(statistic.value.u64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
      return statistic.value.f64;
    default:
      return -1;
  }
}

std::vector<VkPipelineExecutablePropertiesKHR> executables_of(const DeviceTable& table, VkPipeline pipeline) {
  VkPipelineInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR};
  info.pipeline = pipeline;
  std::uint32_t count = 0;
  check(table.vk.vkGetPipelineExecutablePropertiesKHR(table.device, &info, &count, nullptr),
        "counting the executables of a pipeline");
  std::vector<VkPipelineExecutablePropertiesKHR> found(
      count, VkPipelineExecutablePropertiesKHR{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR});
  check(table.vk.vkGetPipelineExecutablePropertiesKHR(table.device, &info, &count, found.data()),
        "listing the executables of a pipeline");
  found.resize(count);
  return found;
}

std::vector<VkPipelineExecutableStatisticKHR> driver_statistics(const DeviceTable& table, VkPipeline pipeline,
                                                                std::uint32_t executable) {
  VkPipelineExecutableInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR};
  info.pipeline = pipeline;
  info.executableIndex = executable;
  std::uint32_t count = 0;
  check(table.vk.vkGetPipelineExecutableStatisticsKHR(table.device, &info, &count, nullptr),
        "counting the statistics of a pipeline");
  std::vector<VkPipelineExecutableStatisticKHR> found(
      count, VkPipelineExecutableStatisticKHR{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR});
  check(table.vk.vkGetPipelineExecutableStatisticsKHR(table.device, &info, &count, found.data()),
        "reading the statistics of a pipeline");
  found.resize(count);
  return found;
}

std::string retry_text(const std::string& doing, const CompileAttempts& compiled) {
  if (compiled.first_failure.empty()) return "";
  return fmt::format("{}: the driver failed with {}, and succeeded when asked again", doing,
                     compiled.first_failure);
}

ExecutableStatistics told_by_driver(Device::State& device, const Dispatch& dispatch,
                                    const Pipeline& pipeline) {
  ExecutableStatistics all;
  if (!device.tells_statistics) {
    return all;
  }
  const Handle<VkPipeline> told =
      create_handle(device, dispatch, pipeline, VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR).handle;
  const auto executables = executables_of(device.table, told.get());
  for (std::uint32_t i = 0; i < executables.size(); ++i) {
    for (const VkPipelineExecutableStatisticKHR& one : driver_statistics(device.table, told.get(), i)) {
      add_statistic(all,
                    {.name = one.name, .value = value_of(one), .subgroup_size = executables[i].subgroupSize});
    }
  }
  return all;
}

}  // namespace

VkDescriptorType descriptor_type(Form form, Binding::Access access) {
  if (access == Binding::Access::Sampled) return VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
  return is_texture(form) ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

CreatedHandle create_handle(Device::State& device, const Dispatch& dispatch, const Pipeline& pipeline,
                            VkPipelineCreateFlags flags, const std::function<void()>& asks_again) {
  const DeviceTable& table = device.table;
  const SpecializationData constants(pipeline.constants);
  const VkSpecializationInfo specialization_info = constants.info();
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.flags = flags;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = pipeline.module.get();
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &specialization_info;
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup_size{
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO, nullptr,
      dispatch.subgroup_size};
  if (dispatch.subgroup_size != 0) {
    info.stage.pNext = &subgroup_size;
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  }
  info.layout = pipeline.layout.get();
  VkPipeline handle = VK_NULL_HANDLE;
  const std::string doing = fmt::format("creating the pipeline of dispatch '{}' ({}) on '{}'", dispatch.label,
                                        dispatch.shader, device.info().name);
  const auto create = [&] {
    return table.vk.vkCreateComputePipelines(table.device, device.pipeline_cache.get(), 1, &info, nullptr,
                                             &handle);
  };
  // The compiler may lack what the memory pool keeps.
  const CompileAttempts compiled = compile_in_two_attempts(create, [&] {
    memory_pool_of(device).clear();
    if (asks_again) asks_again();
  });
  check_compiled(compiled.result, doing + (compiled.count == 2 ? ", in two attempts" : ""));
  return {{table, handle, table.vk.vkDestroyPipeline}, retry_text(doing, compiled)};
}

Pipeline create_pipeline(Device::State& device, const Dispatch& dispatch,
                         std::vector<VkDescriptorType> bindings, const Spirv& spirv, std::uint32_t guard,
                         const std::function<void()>& asks_again, Uninitialized uninitialized) {
  const auto start = std::chrono::steady_clock::now();
  const DeviceTable& table = device.table;
  Pipeline pipeline;
  pipeline.bindings = std::move(bindings);
  pipeline.constants = specialization(dispatch, spirv.words, guard, spirv.is_foreign);
  pipeline.spirv_hash = spirv.hash;
  pipeline.set_layout = create_set_layout(table, dispatch, pipeline.bindings);
  pipeline.layout = create_layout(table, dispatch, pipeline.set_layout.get());
  const PoisonSign sign = sign_of(uninitialized, specialized_key(dispatch, spirv, guard));
  ModuleWithModes module = module_for(device, dispatch, spirv, pipeline.constants, sign);
  pipeline.float_modes = std::move(module.added);
  pipeline.module = create_module(device, dispatch, module.words);
  CreatedHandle created = create_handle(device, dispatch, pipeline, /*flags=*/0, asks_again);
  pipeline.handle = std::move(created.handle);
  pipeline.driver_retry = std::move(created.driver_retry);
  device.name(VK_OBJECT_TYPE_PIPELINE, object_id(pipeline.handle.get()), dispatch.label);
  pipeline.creation_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return pipeline;
}

FloatModes float_modes_of(const DeviceInfo& device) {
  if (device.treats_halves_well_unasked()) return {};
  return {.rounds_to_even = device.rounds_halves_to_even(),
          .keeps_subnormals_16 = device.has(Feature::KeepsSubnormals16)};
}

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
                                  const Spirv& spirv, std::uint32_t guard,
                                  const std::function<void()>& asks_again, Uninitialized uninitialized) {
  const std::string key = pipeline_key(dispatch, bindings, spirv, guard, uninitialized);
  return once_.get(
      key, [&] { return find(key); },
      [&] {
        return std::make_shared<Pipeline>(
            create_pipeline(device_, dispatch, std::move(bindings), spirv, guard, asks_again, uninitialized));
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

void add_statistic(ExecutableStatistics& all, const DriverStatistic& one) {
  const std::string name = lower(one.name);
  for (const Meaning& meaning : meanings) {
    if (meaning.name == name) {
      keep_larger(all.*meaning.field, converted(one, meaning.unit));
    }
  }
}

void add_statistics(ExecutableStatistics& all, const ExecutableStatistics& some) {
  keep_larger(all.registers, some.registers);
  keep_larger(all.spill_bytes, some.spill_bytes);
  keep_larger(all.shared_bytes, some.shared_bytes);
}

ExecutableStatistics statistics_of(Device::State& device, const Dispatch& dispatch, Pipeline& pipeline) {
  if (!pipeline.told) {
    pipeline.told = told_by_driver(device, dispatch, pipeline);
  }
  ExecutableStatistics all = *pipeline.told;
  if (!all.shared_bytes && dispatch.shared_bytes > 0) {
    all.shared_bytes = dispatch.shared_bytes;
  }
  return all;
}

}  // namespace assay::gpu
