#include "harness/commands/run/output/device_output.h"

#include "harness/base/text.h"
#include "harness/commands/run_summary.h"
#include "harness/report/journal/journal_text.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

namespace assay::app {
namespace {

ConsoleOptions console_options(const RunOptions& options, const Terminal& terminal, bool is_live) {
  ConsoleOptions console = terminal.console;
  console.verbose = options.attempt.verbose;
  console.is_terminal = console.is_terminal && is_live;
  return console;
}

Recorder recorder_of(const RunOptions& options, const std::filesystem::path& folder, Console& console) {
  if (options.resume.empty()) return {folder, console};
  unpack_journal(folder);
  if (std::filesystem::exists(folder / journal_name)) return {folder, console, Recorder::GoOn{}};
  return {folder, console};
}

}  // namespace

DeviceOutput::DeviceOutput(const OutputParts& parts, const ChosenDevice& device, bool is_live)
    : parts_(parts),
      terminal_{is_live ? parts.terminal.out : held_back_, is_live ? parts.terminal.log : held_back_log_,
                parts.terminal.errors, parts.terminal.console},
      folder_(parts.folder.of_device(device.slug)),
      console_(terminal_.out, terminal_.log, console_options(parts.options, parts.terminal, is_live)),
      recorder_(recorder_of(parts.options, folder_, console_)),
      counted_(parts.failures, recorder_),
      expected_(parts.expectations, device.info.name, counted_) {
  parts_.folder.link(device.slug, terminal_.log);
}

RunReport DeviceOutput::conclude(bool is_interrupted) {
  is_interrupted ? recorder_.interrupted() : recorder_.done();
  RunReport report = recorder_.report();
  print_summary(terminal_.out, console_, report, folder_, parts_.options.benchmark_console);
  if (const std::string& failure = recorder_.reports_failure(); !failure.empty()) {
    terminal_.errors << fmt::format(
        "writing the reports: {}; `assay report {}` makes them from the journal\n", printable(failure),
        printable(folder_.string()));
  }
  return report;
}

void DeviceOutput::show() {
  parts_.terminal.log << held_back_log_.str();
  parts_.terminal.out << held_back_.str();
  held_back_log_.str({});
  held_back_.str({});
}

}  // namespace assay::app
