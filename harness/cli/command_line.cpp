#include "harness/app/compare.h"
#include "harness/app/merge.h"
#include "harness/app/new_op.h"
#include "harness/app/page.h"
#include "harness/app/prune.h"
#include "harness/app/report.h"
#include "harness/app/verdict.h"
#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/cli/arguments.h"
#include "harness/cli/commands.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <sstream>

namespace assay::cli {
namespace {

/// Holds what the options are parsed into, and the subcommand that was chosen.
struct Parsed {
  app::RunOptions run;
  app::JudgeOptions judge;
  ListOptions list;
  OpsOptions ops;
  DevicesOptions devices;
  app::NewOpOptions new_op;
  app::MergeOptions merge;
  app::ReportOptions report;
  app::ShowOptions show;
  app::PivotOptions pivot;
  app::SummaryOptions summary;
  app::PageOptions page;
  app::CompareOptions compare;
  app::VerdictOptions verdict;
  app::PruneOptions prune;
  std::function<int()> chosen;
};

int code(ExitCode code) {
  return static_cast<int>(code);
}

/// Adds subcommands to an app; a callback remembers which one was chosen.
class Subcommands {
 public:
  Subcommands(CLI::App& app, Parsed& parsed) : app_(app), parsed_(parsed) {}

  CLI::App& add(const char* name, const char* help, std::function<int()> body) {
    CLI::App* command = app_.add_subcommand(name, help);
    command->callback([this, body = std::move(body)] { parsed_.chosen = body; });
    return *command;
  }

 private:
  CLI::App& app_;
  Parsed& parsed_;
};

/// Adds the commands that run cases, or list what can be run.
void add_running(Subcommands& commands, Parsed& parsed, const Context& context) {
  CLI::App& run_command = commands.add("run", "Run cases on a device and write reports",
                                       [&] { return run(parsed.run, context); });
  add_run(run_command, parsed.run);
  refuse_others_beside_resume(run_command);
  add_judge(
      commands.add("judge", "Judge submitted shaders: are they right, how fast, and can they be trusted",
                   [&] { return judge(parsed.judge, context); }),
      parsed.judge);
  CLI::App& list_command = commands.add("list", "Print the ids of the cases that `run` would select",
                                        [&] { return list(parsed.list, context); });
  add_case_options(list_command, parsed.list.cases);
  CLI::Option* details = list_command.add_flag(
      "-l,--long", parsed.list.details, "Also print mode, tier, file:line, model, and the layout of CONV2D");
  list_command
      .add_option("--device", parsed.list.device,
                  "For impl auto, print the layout of CONV2D on this device: index, UUID or part of the name")
      ->needs(details);
  CLI::App& ops_command = commands.add("ops", "Print the ops, or the parameters, impls and files of one op",
                                       [&] { return ops(parsed.ops, context); });
  CLI::Option* op_name = ops_command.add_option("name", parsed.ops.name, "The op to describe");
  ops_command
      .add_flag("--markdown", parsed.ops.markdown, "Print docs/ops.md; run this in the source tree's root")
      ->excludes(op_name);
  commands.add("schema", "Print the JSON Schema of case files", [&] { return schema(context); });
  CLI::App& new_op =
      commands.add("new-op", "Write the source files of a new op that builds and passes its tests",
                   [&] { return code(app::new_op(parsed.new_op, context.registry, std::cout)); });
  new_op.add_option("name", parsed.new_op.name, "Lower-case letters, digits and single underscores")
      ->required();
  new_op.add_option("--dir", parsed.new_op.root, "The source tree")->capture_default_str();
  add_devices(commands.add("devices", "Print the Vulkan devices and what they can do",
                           [&] { return devices(parsed.devices); }),
              parsed.devices);
}

/// Adds the commands that maintain a farm's reports.
void add_farm(Subcommands& commands, Parsed& parsed, const Context& context) {
  parsed.verdict.version = context.build.version;
  add_verdict(commands.add("verdict", "Say whether a night is good, and compare it with the last good one",
                           [&] { return code(app::verdict(parsed.verdict, terminal())); }),
              parsed.verdict);
  add_prune(commands.add("prune", "Remove old runs and nights, and say what is kept and why",
                         [&] { return code(app::prune(parsed.prune, terminal())); }),
            parsed.prune);
}

/// Adds the commands that read reports.
void add_reading(Subcommands& commands, Parsed& parsed, const Context& context) {
  add_merge(commands.add("merge", "Merge the reports of a run's shards into one",
                         [&] { return code(app::merge(parsed.merge, context, parse_run, terminal())); }),
            parsed.merge);
  add_report(commands.add("report", "Rewrite the reports from their journal, and print the summary",
                          [&] { return code(app::report(parsed.report, terminal())); }),
             parsed.report);
  add_show(commands.add("show",
                        "Print everything a report knows about one case, or answer a question about its rows",
                        [&] { return code(app::show(parsed.show, terminal())); }),
           parsed.show);
  add_pivot(commands.add("pivot", "Print the reports of several devices side by side",
                         [&] { return code(app::pivot(parsed.pivot, terminal())); }),
            parsed.pivot);
  add_summary(
      commands.add("summary",
                   "Print reports on one screen, or the cost of a model's step as the sum over its layers",
                   [&] { return code(app::summary(parsed.summary, terminal())); }),
      parsed.summary);
  add_page(commands.add("page", "Write one HTML file that shows devices, ops and nights",
                        [&] { return code(app::page(parsed.page, terminal())); }),
           parsed.page);
  add_compare(commands.add("compare", "Compare two runs row by row",
                           [&] { return code(app::compare(parsed.compare, terminal())); }),
              parsed.compare);
}

}  // namespace

app::RunOptions parse_run(const std::vector<std::string>& command) {
  app::RunOptions options;
  CLI::App app{"", "assay"};
  add_run(*app.add_subcommand("run"), options);
  std::vector<std::string> words(command.rbegin(), command.rend());  // CLI11 takes them in reverse
  if (!words.empty()) words.pop_back();
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    throw Error(std::string("reading the run's command line: ") + error.what());
  }
  return options;
}

std::function<int()> parse(int argc, char** argv, const Context& context) {
  const auto parsed = std::make_shared<Parsed>();
  parsed->run.isolation = true;
  CLI::App app{"assay: test GPU ops for accuracy and measure their speed, on every Vulkan device you own",
               "assay"};
  app.set_version_flag("--version", context.build.version);
  app.require_subcommand(1);
  Subcommands commands(app, *parsed);
  add_running(commands, *parsed, context);
  add_reading(commands, *parsed, context);
  add_farm(commands, *parsed, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream help;
    std::ostringstream errors;
    const int status = app.exit(error, help, errors);
    std::cout << help.str();
    std::cerr << printable(errors.str());  // it quotes arguments
    return [code = status == 0 ? 0 : code(ExitCode::Usage)] { return code; };
  }
  return [parsed] { return parsed->chosen(); };
}

}  // namespace assay::cli
