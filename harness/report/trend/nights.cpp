#include "harness/report/trend/nights.h"

#include "harness/base/hash.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace assay {
namespace {

/// Disjoint sets of runs (union-find): a run's set is found by following its parents.
class JoinedRuns {
 public:
  explicit JoinedRuns(std::size_t count) : parents_(count) { std::iota(parents_.begin(), parents_.end(), 0); }

  std::size_t set_of(std::size_t run) {
    while (parents_[run] != run) run = parents_[run] = parents_[parents_[run]];
    return run;
  }
  /// The joined set is named after its first run.
  void join(std::size_t a, std::size_t b) {
    a = set_of(a), b = set_of(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parents_;
};

/// Indices of the runs, without duplicates.
std::vector<std::size_t> different_runs(std::span<const NightSummary> nights) {
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<std::size_t> different;
  for (std::size_t i = 0; i < nights.size(); ++i) {
    if (seen.emplace(nights[i].run.run_id, nights[i].run.device_key).second) different.push_back(i);
  }
  return different;
}

void join_runs_with_common_rows(std::span<const NightSummary> nights, std::span<const std::size_t> runs,
                                JoinedRuns& joined) {
  std::map<std::pair<std::string, RunKind>, std::map<std::uint32_t, std::size_t>> first;
  for (const std::size_t run : runs) {
    const HistoryRun& of = nights[run].run;
    std::map<std::uint32_t, std::size_t>& of_rows = first[{of.device_key, kind_of_run(of)}];
    for (const NightRow& row : nights[run].rows) {
      const auto [at, is_new] = of_rows.try_emplace(row.row, run);
      if (!is_new) joined.join(at->second, run);
    }
  }
}

/// Not 0, which stands for an unknown one.
std::uint32_t tune_number(const std::string& tune) {
  return static_cast<std::uint32_t>(hash64(tune)) | 1U;
}

}  // namespace

std::uint32_t RowNumbers::number_of(const RowKey& key) {
  const auto [at, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size()));
  if (is_new) keys_.push_back(&at->first);
  return at->second;
}

std::optional<std::uint32_t> RowNumbers::find(const RowKey& key) const {
  const auto at = numbers_.find(key);
  return at == numbers_.end() ? std::nullopt : std::optional(at->second);
}

NightSummary read_night(RowNumbers& numbers, const std::function<HistoryRun(const HistoryAction&)>& read) {
  NightSummary night;
  night.run = read([&](const HistoryRow& row) {
    night.rows.push_back({.row = numbers.number_of(row.key),
                          .status = row.status,
                          .time_us = static_cast<float>(row.time_us.value_or(0)),
                          .ci_pct = static_cast<float>(row.ci_pct.value_or(0)),
                          .err_over_bound = static_cast<float>(row.err_over_bound.value_or(0)),
                          .hash = row.output_hash.empty() ? 0 : hash64(row.output_hash),
                          .program = row.program.empty() ? 0 : hash64(row.program),
                          .tune = row.tune ? tune_number(*row.tune) : 0});
  });
  return night;
}

std::vector<Track> tracks_of(std::span<const NightSummary> nights) {
  const std::vector<std::size_t> runs = different_runs(nights);
  JoinedRuns joined(nights.size());
  join_runs_with_common_rows(nights, runs, joined);
  std::map<std::string, std::size_t> devices;
  for (const std::size_t run : runs) devices.try_emplace(nights[run].run.device_key, devices.size());
  std::map<std::pair<std::size_t, std::size_t>, Track> tracks;  // by device and set
  for (const std::size_t run : runs)
    tracks[{devices[nights[run].run.device_key], joined.set_of(run)}].nights.push_back(run);
  std::vector<Track> sorted;
  for (auto& [place, track] : tracks) {
    std::ranges::sort(track.nights, {}, [&](std::size_t run) {
      return std::tie(nights[run].run.date, nights[run].run.run_id);
    });
    sorted.push_back(std::move(track));
  }
  return sorted;
}

}  // namespace assay
