#pragma once

#include "harness/report/writers/csv.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// One row of one run, as a page keeps it: few bytes, as there are hundreds of thousands.
struct NightRow {
  std::uint32_t row = 0;  ///< number of its key, see RowNumbers
  Status status = Status::Missing;
  float time_us = 0;          ///< 0: none
  float ci_pct = 0;           ///< in percent of time_us
  float err_over_bound = 0;   ///< also 0 if nothing was judged
  std::uint64_t hash = 0;     ///< hash of output_hash; 0: none
  std::uint64_t program = 0;  ///< hash of the program's hash; 0: not timed, or unknown
  std::uint32_t tune = 0;     ///< hash of its tunables; 0: unknown, as in summaries of old runs
};

/// Numbers the rows of all runs: the same row has the same number in every run.
class RowNumbers {
 public:
  RowNumbers() = default;
  RowNumbers(RowNumbers&&) = default;
  RowNumbers& operator=(RowNumbers&&) = default;
  RowNumbers(const RowNumbers&) = delete;  // the keys of a copy would be in the original
  RowNumbers& operator=(const RowNumbers&) = delete;
  ~RowNumbers() = default;

  std::uint32_t number_of(const RowKey& key);
  /// The number of a row; absent if no run has it.
  std::optional<std::uint32_t> find(const RowKey& key) const;
  const RowKey& key_of(std::uint32_t number) const { return *keys_.at(number); }

 private:
  std::map<RowKey, std::uint32_t> numbers_;
  std::vector<const RowKey*> keys_;  ///< by number; in `numbers_`
};

/// A summary of one run on one device.
struct NightSummary {
  HistoryRun run;
  std::vector<NightRow> rows;
};

/// All runs that a page includes.
struct NightSummaries {
  RowNumbers numbers;
  std::vector<NightSummary> all;
};

/// Reads a night with one of the functions read_history(): `read` gets the action that it has to call for
/// each row.
NightSummary read_night(RowNumbers& numbers, const std::function<HistoryRun(const HistoryAction&)>& read);

/// Runs on one device with common rows: each has a row in common with another one. Runs of different case
/// files on one device are separate tracks, and so are runs of different kinds (RunKind): neither is the base
/// of the other.
struct Track {
  std::vector<std::size_t> nights;  ///< indices, ordered by date: the last is the newest
};

/// The tracks of all runs, grouped by device, devices in the order of their first run. A run that is given
/// twice counts once.
std::vector<Track> tracks_of(std::span<const NightSummary> nights);

}  // namespace assay
