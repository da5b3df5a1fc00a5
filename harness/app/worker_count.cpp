#include "harness/app/worker_count.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::app {
namespace {

constexpr std::size_t most_workers = 8;
constexpr std::size_t groups_a_worker = 4;  ///< minimum: fewer are not worth a process

}  // namespace

WorkerCount count_of_workers(const WorkerCountParts& parts) {
  if (parts.asked > 0 && !parts.is_cpu) {
    if (parts.asked == 1) return {};
    return {.note = fmt::format("it is not a CPU, so its rows run in one worker, not in {}", parts.asked)};
  }
  if (parts.asked > 0)
    return {.workers = std::clamp<std::size_t>(parts.groups, 1, static_cast<std::size_t>(parts.asked))};
  if (!parts.is_cpu || parts.is_elsewhere) return {};
  const std::size_t most = std::clamp<std::size_t>(parts.cores, 1, most_workers);
  return {.workers = std::clamp<std::size_t>(parts.groups / groups_a_worker, 1, most)};
}

std::size_t accuracy_rows_left(const ReportBuilder& journal) {
  std::size_t rows = 0;
  for (RowIndex row = 0; row < journal.rows(); ++row)
    rows += journal.info(row).mode == "accu" && !journal.events(row).is_finished() ? 1 : 0;
  return rows;
}

}  // namespace assay::app
