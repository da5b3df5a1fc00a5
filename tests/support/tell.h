#pragma once

// A whole run as events, from the records that it shall have. Only tests include this.

#include "harness/report/record/record_of.h"
#include "tests/support/records.h"

#include <vector>

namespace assay::test {

inline std::vector<RowInfo> infos_of(const std::vector<Record>& records) {
  std::vector<RowInfo> infos;
  for (const Record& record : records) infos.push_back(record.info);
  return infos;
}

/// A row's begin and what follows, as an engine tells them.
inline void tell_row(RunListener& listener, RowIndex row, const Record& record,
                     const RunInfo& run = sample_run()) {
  listener.begin(row);
  tell_record(run, row, record, listener);
}

inline void tell(RunListener& listener, const std::vector<Record>& records,
                 const RunInfo& run = sample_run()) {
  listener.run(run);
  listener.plan(infos_of(records));
  for (std::size_t row = 0; row < records.size(); ++row) tell_row(listener, row, records[row], run);
  listener.done();
}

}  // namespace assay::test
