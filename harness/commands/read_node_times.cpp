#include "harness/commands/read_node_times.h"

#include "harness/base/error.h"
#include "harness/commands/find_report.h"
#include "harness/report/journal/checked_journal.h"

#include <fmt/format.h>

#include <cmath>

namespace assay::app {

std::shared_ptr<const chain::NodeTimes> read_node_times(const std::filesystem::path& report) {
  const RunReport read = read_checked_journal(only_journal(report));
  if (read.run.robust_access) {
    throw Error(
        fmt::format("reading the times of chains' nodes: the device of '{}' checked every memory access "
                    "(--robust-access), so its times are not those of other runs",
                    report.string()));
  }
  auto times = std::make_shared<chain::NodeTimes>(read.run.run_id, read.run.device);
  bool has_times = false;
  for (const Record& record : read.records) {
    const RowInfo& info = record.info;
    const bool is_own_kernel = !info.shaders && !info.versus && info.tune.empty();
    if (record.status != Status::Pass || !record.perf || !is_own_kernel || info.cache == "cold") continue;
    const double us = record.perf->time_us_p50;
    if (!(us > 0) || !std::isfinite(us)) continue;
    times->add({.op = info.op, .impl = info.impl, .params = info.params, .forms = info.forms}, us);
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
