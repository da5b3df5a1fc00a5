#include "harness/gpu/program/pipeline_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace assay::gpu {
namespace {

using Field = std::optional<std::int64_t> ExecutableStatistics::*;

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

ExecutableStatistics told_by_driver(const Device::State& device, const Dispatch& dispatch,
                                    const Pipeline& pipeline) {
  ExecutableStatistics all;
  if (!device.tells_statistics) {
    return all;
  }
  const Handle<VkPipeline> told =
      create_handle(device, dispatch, pipeline, VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR);
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

ExecutableStatistics statistics_of(const Device::State& device, const Dispatch& dispatch,
                                   Pipeline& pipeline) {
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
