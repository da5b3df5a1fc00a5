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
  RowNames names;                             ///< how rows are called; the plan must use the same
  std::optional<VersusShaders> versus;        ///< for the planned rows that are of the other version
  std::string baseline_impl;  ///< --baseline-impl: whose rows the others share rounds with, as in plan_of()
  const AnswerCache* answers = nullptr;  ///< where references' answers are kept; null: nowhere
  /// Rows of mode perf must be right on data of this seed too (make_secret_data_set). Nothing: they need not.
  std::optional<std::uint64_t> secret_seed;
  SamplingOptions sampling;
  double injected_slowdown_pct = 0;  ///< --inject-slowdown: every timed program gets so much more work
  /// A program that needs longer at the device's own ceilings is not run; its case's timeout may be less.
  double program_limit_s = 10;
  Ceilings ceilings;             ///< as far as they are known without measuring; those of `tools` go before
  TimingTools* tools = nullptr;  ///< of this device; null: made when a row is first timed, without ceilings
  int preparing_threads = 0;     ///< --prepare: they prepare rows before it is their turn; 0: none does
  /// Asked before each row begins and before each block of samples: true ends the run there. Empty: never.
  std::function<bool()> stop_requested;
  /// Rows that wait to be timed are timed once that takes about so long; a group's rows stay together.
  double pool_s = 60;
  std::function<void()> group_ended;  ///< called behind each group of rows, in this thread; empty: nothing
  /// Called around the timing of each pool of rows, both or none, in this thread. Empty: nothing.
  std::function<void()> before_timing;
  std::function<void()> after_timing;
  std::function<std::int64_t()> validation_messages;  ///< of the instance, so far; empty: not counted
  /// The different texts of those after the first so many.
  std::function<std::vector<std::string>(std::int64_t after)> validation_texts;
};

}  // namespace assay
