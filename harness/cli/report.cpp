#include "harness/cli/commands.h"
#include "harness/report/console.h"
#include "harness/report/exit_code.h"
#include "harness/report/journal.h"
#include "harness/report/writers.h"

#include <iostream>
#include <memory>

namespace assay::cli {
namespace {

int report(const std::filesystem::path& folder) {
  const RunReport report = read_journal(folder / "journal.jsonl");
  write_reports(folder, report);
  Console console(std::cout, std::cerr, console_options(false));
  console.summary(report, folder);
  return static_cast<int>(exit_code(report));
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  auto folder = std::make_shared<std::filesystem::path>();
  CLI::App* command =
      app.add_subcommand("report", "Write a device's reports again from its journal, and print the summary");
  command->add_option("folder", *folder, "The folder that holds journal.jsonl")
      ->required()
      ->check(CLI::ExistingDirectory);
  command->callback([&context, folder] { context.chosen = [folder] { return report(*folder); }; });
}

}  // namespace assay::cli
