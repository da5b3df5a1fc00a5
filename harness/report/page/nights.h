#pragma once

#include "harness/report/files/history.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// What a page keeps of one row of one run: few bytes, as there are hundreds of thousands of them.
struct NightRow {
  std::uint32_t row = 0;  ///< number of its key, see RowNumbers
  Status status = Status::Missing;
  float time_us = 0;         ///< 0: none
  float ci_pct = 0;          ///< of time_us
  float err_over_bound = 0;  ///< 0 where nothing was judged, too
  std::uint64_t hash = 0;    ///< of output_hash; 0: none
};

/// Numbers the rows of all runs: a row that several runs have has one number.
class RowNumbers {
 public:
  std::uint32_t number_of(const RowKey& key);
  /// Absent: no run has it.
  std::optional<std::uint32_t> find(const RowKey& key) const;

 private:
  std::map<RowKey, std::uint32_t> numbers_;
};

/// One run on one device, in short.
struct NightSummary {
  HistoryRun run;
  std::vector<NightRow> rows;
};

/// All runs that a page knows.
struct NightSummaries {
  RowNumbers numbers;
  std::vector<NightSummary> all;
};

/// Reads a night by one of the functions read_history(): `read` is given what it has to call for each row.
NightSummary read_night(RowNumbers& numbers, const std::function<HistoryRun(const HistoryAction&)>& read);

/// Runs of one device that tell of the same rows: each has a row in common with another one. Runs of
/// different case files on one device are tracks of their own: neither is the base of the other.
struct Track {
  std::vector<std::size_t> nights;  ///< indices, by date: the last is the newest
};

/// The tracks of all runs, those of one device behind each other, devices in the order of their first run. A
/// run that is given twice counts once.
std::vector<Track> tracks_of(std::span<const NightSummary> nights);

}  // namespace assay
