#pragma once

#include "harness/cases/expectations/expectations.h"
#include "harness/engine/accuracy/originals.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/run_options.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/gpu/gpu.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay {

/// Messages of the validation layer during some period.
struct LayerMessages {
  std::int64_t count = 0;
  std::vector<std::string> texts;  ///< distinct texts, oldest first

  void add(const LayerMessages& later) {
    count += later.count;
    for (const std::string& text : later.texts) {
      std::erase(texts, text);  // a repeated message counts as the newest
      texts.push_back(text);
    }
  }
};

/// The budget of device memory that rows may keep while they wait to be timed and between their blocks; first
/// come, first served.
struct KeptMemory {
  std::uint64_t limit = 0;
  std::uint64_t used = 0;

  bool take(std::uint64_t bytes) {
    if (used + bytes > limit) return false;
    used += bytes;
    return true;
  }
};

/// Everything that the rows of a run on one device share: the device, the options, and tools that are made
/// when a row first needs them.
class DeviceContext {
 public:
  /// All arguments must outlive this object.
  DeviceContext(gpu::Device& owner, gpu::ShaderLibrary& own_shaders, const Expectations& rules,
                const DeviceRunOptions& asked);

  gpu::Device& device;
  const DeviceRunOptions& options;
  KeptMemory kept;  ///< for originals

  /// The rule that skips this row, or null. (Rules about how rows end are applied by the listener.)
  const Expectation* skip_of(const RowInfo& row) const;
  gpu::ShaderLibrary& shaders_of(const PlannedRow& row) const;
  RowInfo info_of(const PlannedRow& row) const { return row_info(row, options.names); }

  TimingTools& tools();
  /// The device's measured ceilings, of this run or an earlier one; empty if they were never measured.
  const Ceilings& ceilings() const;
  gpu::DeviceMemory& memory();
  /// Validation messages since the last call.
  LayerMessages take_messages();

 private:
  gpu::ShaderLibrary& shaders_;
  const Expectations& expectations_;
  std::unique_ptr<TimingTools> own_tools_;
  std::unique_ptr<gpu::DeviceMemory> memory_;
  std::int64_t messages_before_ = 0;
};

}  // namespace assay
