#pragma once

// A whole run as events, from the records that it shall have. Only tests include this.

#include "harness/base/clock.h"
#include "harness/report/record/events.h"
#include "harness/report/record/record.h"
#include "tests/support/records.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::test {

inline std::vector<RowInfo> infos_of(const std::vector<Record>& records) {
  std::vector<RowInfo> infos;
  for (const Record& record : records) infos.push_back(record.info);
  return infos;
}

/// The time of `batch` programs in ns that gives `program_us` when it is divided again. Device times are
/// mostly whole numbers of ns, which the us of one program only show with an error in the last digit.
inline double submission_ns(double program_us, int batch) {
  const double about = program_us * ns_per_us * batch;
  const auto gives_it = [&](double ns) { return ns / batch / ns_per_us == program_us; };
  for (int digits = 0; digits <= 6; ++digits) {
    const double parts = std::pow(10, digits);
    const double rounded = std::round(about * parts) / parts;
    if (gives_it(rounded)) return rounded;
  }
  for (const double toward : {0.0, HUGE_VAL}) {
    double near = about;
    for (int step = 0; step < 4; ++step) {
      if (gives_it(near)) return near;
      near = std::nextafter(near, toward);
    }
  }
  return about;
}

/// Blocks with the samples of a record, in rounds from 0 on.
inline std::vector<Block> blocks_of(const Record& record) {
  std::vector<Block> blocks;
  if (!record.perf) return blocks;
  const PerfResult& perf = *record.perf;
  for (const std::vector<double>& samples : perf.sample_us) {
    Block& block = blocks.emplace_back();
    block.round = static_cast<int>(blocks.size()) - 1;
    block.batch = std::max(1, perf.batch);
    for (const double us : samples) block.samples_ns.push_back(submission_ns(us, block.batch));
  }
  return blocks;
}

/// The opposite of record_of: sends a listener the events after `begin` that make up a record, except for
/// what reports compute: `comparison`, `repro` and the timed hash.
inline void tell_record(RunListener& listener, RowIndex row, const Record& record) {
  if (record.accuracy) listener.judged(row, *record.accuracy);
  for (const Block& block : blocks_of(record)) listener.block(row, block);
  listener.end(row, end_of(record));
}

/// A row's begin and what follows, as an engine sends them.
inline void tell_row(RunListener& listener, RowIndex row, const Record& record) {
  listener.begin(row);
  tell_record(listener, row, record);
}

inline void tell(RunListener& listener, const std::vector<Record>& records,
                 const RunInfo& run = sample_run()) {
  listener.run(run);
  listener.plan(infos_of(records));
  for (std::size_t row = 0; row < records.size(); ++row) tell_row(listener, row, records[row]);
  listener.done();
}

}  // namespace assay::test
