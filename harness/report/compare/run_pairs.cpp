#include "harness/report/compare/run_pairs.h"

#include "harness/report/files/device_key.h"

#include <algorithm>
#include <string>
#include <utility>

namespace assay {
namespace {

/// Whether the row has one run per side, and these are two different runs.
bool is_of_two_runs(const RowVerdict& row) {
  return row.is_same_program && row.base->runs.size() == 1 && row.next->runs.size() == 1 &&
         row.base->runs != row.next->runs;
}

}  // namespace

std::vector<RunPair> run_pairs_of(const RunComparison& comparison) {
  std::vector<RunPair> pairs;
  for (const RunReport& base : comparison.base) {
    const std::string key = device_key(base.run);
    RunPair pair{.device = base.run.device.name,
                 .device_key = key,
                 .driver = driver_of(base.run),
                 .base_run = base.run.run_id};
    for (const RowVerdict& row : comparison.rows) {
      if (!is_of_two_runs(row) || row.base->runs.front() != pair.base_run || row.device_key != key) continue;
      pair.new_run = row.next->runs.front();
      ++pair.rows;
      pair.alarms += row.run_noise_pct > 0 ? 1 : 0;
      pair.largest_pct = std::max(pair.largest_pct, row.run_noise_pct);
    }
    if (pair.rows > 0) pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace assay
