#include "harness/commands/run/setup/resume.h"

#include "harness/base/error.h"
#include "harness/commands/find_report.h"
#include "harness/commands/run/setup/run_inputs.h"
#include "harness/report/journal/journal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* start_anew = "run the cases again into a new folder instead";

/// The circumstances in the journal's first line.
RunInfo run_of(const fs::path& journal) {
  ReportBuilder builder;
  for_each_line(journal, [&](std::string_view line) {
    if (!builder.has_run()) builder.line(line);
  });
  return builder.report().run;
}

/// The folder of the run that a device's folder belongs to, links followed.
fs::path run_folder_of(const fs::path& journal) {
  std::error_code error;
  const fs::path device = fs::canonical(journal.parent_path(), error);
  const fs::path whole = (error ? journal.parent_path() : device).parent_path();
  const fs::path from_here = fs::relative(whole, error);
  return error || from_here.empty() || *from_here.begin() == ".." ? whole : from_here;
}

bool is_same(const RowInfo& a, const RowInfo& b) {
  return a.id == b.id && a.mode == b.mode && a.op == b.op && a.impl == b.impl && a.group == b.group &&
         a.params == b.params && a.forms == b.forms && a.tune == b.tune && a.fill == b.fill &&
         a.seed == b.seed;
}

}  // namespace

ResumedRun find_resumed_run(const fs::path& path) {
  std::vector<fs::path> journals = journals_of(path);
  const auto newest = std::ranges::max_element(
      journals, {}, [](const fs::path& journal) { return run_folder_of(journal).filename().string(); });
  ResumedRun run{.folder = run_folder_of(*newest)};
  const RunInfo info = run_of(*newest);
  run.command = info.command;
  run.shard = info.shard;
  run.secret_seed = info.secret_seed;
  if (run.command.size() < 2) {
    throw Error(
        fmt::format("resuming a run: {} does not contain its command line: it was killed before it began; {}",
                    newest->string(), start_anew));
  }
  return run;
}

std::optional<std::string> refuse_other_run(const RunInfo& before, const RunInfo& now) {
  const auto refused = [&](const std::string& what) {
    return fmt::format("resuming run {}: {}; {}", before.run_id, what, start_anew);
  };
  if (before.device.uuid != now.device.uuid || before.device.name != now.device.name) {
    return refused(fmt::format("it ran on the device {} ({}), but this is {} ({})", before.device.name,
                               before.device.uuid, now.device.name, now.device.uuid));
  }
  if (before.device.driver_info != now.device.driver_info) {
    return refused(
        fmt::format("the driver was {} and is {}", before.device.driver_info, now.device.driver_info));
  }
  if (before.version != now.version)
    return refused(fmt::format("assay was {} and is {}", before.version, now.version));
  if (const auto inputs = different_inputs(before.inputs, now.inputs))
    return refused(*inputs + " have changed");
  if (const auto inputs = inputs_of_one_only(before.inputs, now.inputs))
    return refused(*inputs + " are gone");
  if (const auto inputs = inputs_of_one_only(now.inputs, before.inputs))
    return refused(*inputs + " were added since");
  return std::nullopt;
}

std::optional<std::string> refuse_other_plan(const ReportBuilder& journal, std::span<const RowInfo> now) {
  if (!journal.has_plan()) return std::nullopt;
  for (RowIndex row = 0; row < std::min(journal.rows(), now.size()); ++row) {
    if (is_same(journal.info(row), now[row])) continue;
    return fmt::format("resuming a run: its row {} was {} ({}), and is {} ({}) now; {}", row,
                       journal.info(row).id, journal.info(row).params, now[row].id, now[row].params,
                       start_anew);
  }
  if (journal.rows() == now.size()) return std::nullopt;
  return fmt::format("resuming a run: it had {} rows, but the case files give {} now; {}", journal.rows(),
                     now.size(), start_anew);
}

}  // namespace assay::app
