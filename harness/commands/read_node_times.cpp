#include "harness/commands/read_node_times.h"

#include "harness/base/error.h"
#include "harness/commands/find_report.h"
#include "harness/report/journal/journal.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

namespace assay::app {

std::shared_ptr<const chain::NodeTimes> read_node_times(const std::filesystem::path& report) {
  const RunReport read = read_journal(only_journal(report));
  auto times = std::make_shared<chain::NodeTimes>(read.run.run_id, read.run.device);
  bool has_times = false;
  for (const Record& record : read.records) {
    const RowInfo& info = record.info;
    if (!has_time(record) || info.cache == "cold" || info.versus || !info.tune.empty()) continue;
    times->add({.op = info.op, .impl = info.impl, .params = info.params, .forms = info.forms},
               record.perf->time_us_p50);
    has_times = true;
  }
  if (!has_times) {
    throw Error(fmt::format(
        "reading the times of chains' nodes: no row of '{}' has a time; `assay run FILE --nodes --mode perf` "
        "makes such a report",
        report.string()));
  }
  return times;
}

}  // namespace assay::app
