#pragma once

#include "harness/base/clock.h"
#include "harness/commands/context.h"
#include "harness/commands/mutate/fault_reports.h"
#include "harness/commands/mutate/fault_result.h"
#include "harness/commands/mutate/trial_crew.h"
#include "harness/commands/mutate/trial_rows.h"
#include "harness/gpu/shaders/shader_sources.h"

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// The order in which a file's faults meet the rows that use it: first the rows that killed faults nearby,
/// then the cheapest row of each variant of the shaders, then one more of each, as long as there are some
/// with other specialization constants, and so on.
class RowOrder {
 public:
  /// `users` are indices of the rows that use the file.
  RowOrder(std::span<const TrialRow> rows, const std::vector<std::size_t>& users);

  std::vector<std::size_t> rows_for(int line) const;
  void note_kill(int line, std::size_t row);
  std::size_t size() const { return order_.size(); }

 private:
  struct Seen {
    int line = 0;
    std::size_t row = 0;
  };

  std::vector<std::size_t> order_;
  std::vector<Seen> kills_;
};

/// Tries the faults that have no result yet, in their order, several at a time. A fault that survives costs
/// as much as dozens that are killed. So each is tried on some rows first, and those that survive on all rows
/// after that.
class FaultCampaign {
 public:
  /// All must outlive it.
  struct Parts {
    const MutateOptions& options;
    const std::vector<std::string>& command;  ///< starts a process that calls serve_trials()
    std::size_t device = 0;
    const TrialRows& rows;
    const gpu::ShaderSources& sources;
    const Terminal& terminal;
    const std::function<bool()>& stop_requested;
  };

  FaultCampaign(const Parts& parts, FaultJournal& journal, std::vector<FaultRecord>& records);
  ~FaultCampaign();
  FaultCampaign(const FaultCampaign&) = delete;
  FaultCampaign& operator=(const FaultCampaign&) = delete;

  /// Returns when all faults have a result, the budget is used up, or a stop is requested: faults that are
  /// being tried then have none.
  void run();

 private:
  void find_users();
  void note_known_kills();
  std::vector<std::size_t> open_faults(std::size_t most_rows) const;
  bool try_all(TrialCrew& crew, std::size_t most_rows);
  void begin(TrialCrew& crew, std::size_t index, std::size_t most_rows);
  TrialRequest request_for(const mutation::Fault& fault, std::size_t most_rows) const;
  void finish(const TrialCrew::Finished& finished);
  void show_survivors() const;
  void show_progress(bool now);
  TrialCrew::Parts crew_parts() const;
  std::string reason_to_end() const;

  Parts parts_;
  FaultJournal& journal_;
  std::vector<FaultRecord>& records_;
  std::map<std::string, RowOrder> orders_;  ///< by file
  std::filesystem::path scratch_;
  double cpu_s_ = 0;
  std::size_t tried_ = 0;
  std::size_t to_try_ = 0;  ///< faults of the current pass that have not ended
  Stopwatch watch_;
  double shown_s_ = 0;
};

}  // namespace assay::app
