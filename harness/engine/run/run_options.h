#pragma once

#include "harness/engine/accuracy/answer_cache.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/timing/sampler.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/gpu/gpu.h"
#include "harness/op/ceilings.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace assay {

/// The other version of the shaders (--versus-shaders).
struct VersusShaders {
  gpu::ShaderLibrary* library = nullptr;
};

struct DeviceRunOptions {
  std::optional<Mode> mode;                   ///< Accu or Perf only; empty: what each case says
  std::optional<std::filesystem::path> dump;  ///< --dump
  RowNames names;                             ///< names of rows; the plan must use the same
  std::optional<VersusShaders> versus;        ///< for planned rows with the other version
  std::string baseline_impl;  ///< --baseline-impl: other rows are compared with this impl's, as in plan_of()
  const AnswerCache* answers = nullptr;  ///< caches the references' answers; null: no cache
  /// Rows of mode perf must be right on data of this seed, too (make_secret_data_set). Nothing: no such
  /// check.
  std::optional<std::uint64_t> secret_seed;
  /// False: rows that have secret data are timed on two sets of these, which no shader can know, instead of
  /// their own data and one set.
  bool times_known_data = true;
  SamplingOptions sampling;
  double injected_slowdown_pct = 0;  ///< --inject-slowdown: extra work for every timed program
  /// Seconds. A program that needs longer even at the device's ceilings is not run; the case's timeout may be
  /// shorter.
  double program_limit_s = 10;
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
