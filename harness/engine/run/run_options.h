#pragma once

#include "harness/device/ceilings.h"
#include "harness/engine/accuracy/answer_cache.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/row_options.h"
#include "harness/engine/timing/sampler.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/gpu/gpu.h"

#include <cstdint>
#include <functional>
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

}  // namespace assay
