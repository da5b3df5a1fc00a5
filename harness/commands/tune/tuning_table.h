#pragma once

#include "harness/base/statistics.h"
#include "harness/base/status.h"
#include "harness/commands/tune/search.h"
#include "harness/op/op.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

// Tables of candidates' times, on which searches can be compared without a device (docs/tuning.md).

/// One candidate that was timed.
struct TableRow {
  std::string kernel;  ///< op, impl and point, by which the rows of a table belong together
  Tune tune;
  Status status = Status::Missing;
  std::optional<Ratio> ratio;  ///< to the built-in defaults; absent: it did not pass
  double time_us = 0;
};

std::string tuning_table_csv(std::span<const TableRow> rows);

/// Reads such a table. Throws Error with file and line.
std::vector<TableRow> read_tuning_table(const std::filesystem::path& file);

/// How both searches do on the table of one kernel with a budget, over many seeds.
struct ComparedSearches {
  std::string kernel;
  std::size_t table = 0;   ///< candidates in it
  double best_ratio = 1;   ///< of all of them
  std::size_t budget = 0;  ///< candidates that each search may time
  double coordinate = 1;   ///< the ratio that is found: geometric mean over the seeds
  double random = 1;
  double share_not_worse = 0;  ///< of the seeds: the coordinate search finds what is as good, or better
};

inline constexpr std::uint64_t compared_seeds = 50;

/// Compares the searches on each kernel of a table, at a twentieth, a tenth and a fifth of its candidates.
std::vector<ComparedSearches> compare_searches(std::span<const TableRow> rows);

/// As a text, and as CSV.
std::string text_of(std::span<const ComparedSearches> compared);
std::string csv_of(std::span<const ComparedSearches> compared);

}  // namespace assay::app
