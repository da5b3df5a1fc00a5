#pragma once

#include "harness/cases/expectations/expectations.h"
#include "harness/device/device_info.h"
#include "harness/engine/accuracy/answer_cache.h"
#include "harness/engine/accuracy/experiment_memory.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/row_options.h"
#include "harness/engine/timing/sampler.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/gpu/gpu.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// The other version of the shaders (--versus-shaders).
struct VersusShaders {
  gpu::ShaderLibrary* library = nullptr;
};

/// How the rows on one device are run.
struct DeviceRunOptions {
  RowOptions rows;                       ///< as the command line gives them
  std::optional<Mode> mode;              ///< Accu or Perf only; empty: what each case says
  RowNames names;                        ///< names of rows; the plan must use the same
  std::optional<VersusShaders> versus;   ///< for planned rows with the other version
  const AnswerCache* answers = nullptr;  ///< caches the references' answers; null: no cache
  /// Rows of mode perf must be right on data of this seed, too (make_secret_data_set). Nothing: no such
  /// check.
  std::optional<std::uint64_t> secret_seed;
  SamplingOptions sampling;
  Ceilings ceilings;             ///< those known without measuring; those of `tools` take precedence
  TimingTools* tools = nullptr;  ///< this device's; null: made when a row is first timed, without ceilings
  int preparing_threads = 0;     ///< --prepare: number of threads that prepare rows before their turn
  /// Called before each row and before each block of samples: true ends the run there. Empty: never stops.
  std::function<bool()> stop_requested;
  /// Waiting rows are timed once their timing would take about this long; a group's rows stay together.
  double pool_s = 60;
  std::function<void()> group_ended;  ///< called after each group of rows, in this thread; may be empty
  /// Called before and after the timing of each pool of rows, in this thread. Set both or neither.
  std::function<void()> before_timing;
  std::function<void()> after_timing;
  std::function<std::int64_t()> validation_messages;  ///< count for the instance so far; empty: not counted
  /// Distinct texts of the messages after the first `after`.
  std::function<std::vector<std::string>(std::int64_t after)> validation_texts;
};

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
