#pragma once

#include "harness/report/compare/row_verdict.h"
#include "harness/report/compare/run_noise.h"
#include "harness/report/files/device_key.h"
#include "harness/report/record/run_report.h"

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace assay {

/// Time of the new side over the base's, and what share of its limit each device reaches, as geometric means
/// over the rows of one op and impl (both empty: of all) that have a ratio.
struct GeometricMean {
  std::string op;
  std::string impl;
  std::string cache;  ///< "cold", else empty
  double ratio = 1;
  std::size_t rows = 0;
  std::size_t significant = 0;  ///< of them, see RowVerdict
  double peak_ratio = 0;        ///< 0: no row's is known
  std::size_t peak_rows = 0;
};

/// Two sides of runs, row by row.
struct RunComparison {
  std::vector<RunReport> base, next;  ///< without their records
  bool cross_device = false;          ///< each side is of one device, and these are two
  std::vector<RowVerdict> rows;       ///< in the plan's order of the base, then what only the new side has
  std::vector<GeometricMean> means;   ///< by op and impl, in the order of the rows
  GeometricMean mean_of_all;          ///< of the rows of all these
  /// How many rows of the same speed would be separated completely by chance alone: an upper bound of the
  /// false FASTER and SLOWER, as these need an effect besides. Sum of RowVerdict::chance.
  double expected_separations = 0;
  std::size_t judged = 0;  ///< rows that it is summed over
  /// False where rows were judged of one run on a side without it being known what runs of the device
  /// differ by.
  bool knows_run_noise = true;

  std::map<Verdict, std::size_t> totals() const;
  std::size_t without_verdict() const;
};

/// The runs of one side, pooled row by row: far less than their records.
struct PooledRuns {
  struct Row {
    std::size_t run = 0;  ///< index of the last run that has it
    RowSide side;
  };

  std::vector<RunReport> runs;  ///< without their records
  std::size_t records = 0;      ///< that they had
  std::vector<Row> rows;        ///< in the plan's order
};
PooledRuns pool_side(std::vector<RunReport> reports);

/// Compares the runs of two sides. Rows meet when device, id, mode and cache are equal; the runs of one side
/// are pooled. Where each side is of one device and these differ, rows meet by id, mode and cache, and
/// speed gets no verdict. `noise` tells what runs of these devices differ by, which counts where a side has
/// one run (else CompareOptions::between_runs_pct does). Throws Error(Usage) when the sides have no row in
/// common, and when one side holds a run twice.
RunComparison compare_runs(PooledRuns base, PooledRuns next, CompareOptions options = {},
                           const RunNoise& noise = {});
RunComparison compare_runs(std::vector<RunReport> base, std::vector<RunReport> next,
                           CompareOptions options = {}, const RunNoise& noise = {});

}  // namespace assay
