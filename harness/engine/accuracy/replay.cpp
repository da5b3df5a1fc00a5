#include "harness/engine/accuracy/replay.h"

#include "harness/base/clock.h"
#include "harness/engine/accuracy/output_check.h"
#include "harness/tensor/tensor.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>

namespace assay {
namespace {

constexpr double heating_s = 0.02, resting_s = 0.1;
constexpr std::size_t most_answers = 16;

/// Keeps the device busy with the program.
void heat(Experiment& experiment, double timeout_s) {
  const Stopwatch watch;
  gpu::Workspace workspace = experiment.fresh_workspace(Poison::A);
  const bool is_alone = experiment.updates_in_place();
  int batch = 1;
  while (watch.ms() < heating_s * 1e3) {
    const Stopwatch one;
    if (is_alone) experiment.poison_outputs(workspace, Poison::A);
    experiment.executable().time(workspace, {.warm = 0, .batch = batch}, timeout_s);
    if (!is_alone && one.ms() < heating_s * 1e3 / 4 && batch < 1000) batch *= 2;
  }
}

void rest() {
  std::this_thread::sleep_for(std::chrono::duration<double>(resting_s));
}

class Replaying {
 public:
  Replaying(Experiment& experiment, const Answer& judged, std::span<const Acceptance> accepted)
      : experiment_(experiment), judged_hash_(answer_hash_of(*judged)), accepted_(accepted) {
    replay_.answers.push_back({.hash = judged_hash_, .right = is_right(judged_hash_, *judged)});
  }

  void run(bool is_hot) {
    experiment_.release();  // so that the run has new memory
    Poisons poisons = Poisons::all(Poison::A);
    if (replay_.runs % 2 == 1) poisons.workgroup_memory = Poison::B;  // that of a core is never new
    const RunResult seen = experiment_.run(poisons);
    ReplayedAnswer& answer = answer_of(*seen.outputs);
    ++answer.runs;
    ++replay_.runs;
    const bool is_wrong = !answer.right || !seen.findings.empty();
    replay_.wrong += is_wrong ? 1 : 0;
    if (!is_hot) return;
    ++replay_.hot_runs;
    replay_.hot_wrong += is_wrong ? 1 : 0;
  }

  Replay conclude() && {
    std::ranges::stable_sort(replay_.answers, std::greater(), &ReplayedAnswer::runs);
    if (replay_.answers.size() > most_answers) {
      replay_.more_answers = static_cast<int>(replay_.answers.size() - most_answers);
      replay_.answers.resize(most_answers);
    }
    return std::move(replay_);
  }

 private:
  ReplayedAnswer& answer_of(const std::vector<HostTensor>& outputs) {
    const std::string hash = answer_hash_of(outputs);
    const auto known = std::ranges::find(replay_.answers, hash, &ReplayedAnswer::hash);
    if (known != replay_.answers.end()) return *known;
    return replay_.answers.emplace_back(ReplayedAnswer{.hash = hash, .right = is_right(hash, outputs)});
  }

  bool is_right(const std::string& hash, const std::vector<HostTensor>& outputs) const {
    if (accepted_.empty()) return hash == judged_hash_;
    for (std::size_t i = 0; i < accepted_.size(); ++i) {
      if (!check_output(accepted_[i], outputs[i]).pass) return false;
    }
    return true;
  }

  Experiment& experiment_;
  std::string judged_hash_;
  std::span<const Acceptance> accepted_;
  Replay replay_;
};

}  // namespace

Replay replay(Experiment& experiment, const Answer& judged, std::span<const Acceptance> accepted,
              const ReplayOptions& options) {
  Replaying replaying(experiment, judged, accepted);
  const int hot = (options.runs + 1) / 2;
  for (int i = 0; i < options.runs; ++i) {
    if (options.stop_requested && options.stop_requested()) break;
    const bool is_hot = i < hot;
    if (is_hot) {
      heat(experiment, options.timeout_s);
    } else {
      rest();
    }
    replaying.run(is_hot);
  }
  experiment.release();
  return std::move(replaying).conclude();
}

}  // namespace assay
