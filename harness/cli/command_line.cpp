#include "harness/base/error.h"
#include "harness/cli/commands.h"

#include <CLI/CLI.hpp>

#include "build_info.h"
#include <memory>

namespace assay::cli {
namespace {

/// Everything that options are parsed into, and what was chosen.
struct Parsed {
  RunOptions run;
  ListOptions list;
  std::string op;
  DevicesOptions devices;
  NewOpOptions new_op;
  ReportOptions report;
  ShowOptions show;
  PivotOptions pivot;
  CompareRunsOptions compare;
  std::function<int()> chosen;
};

void add_case_options(CLI::App& app, CaseOptions& options) {
  app.add_option("files", options.files,
                 "Case files or folders (default: cases/ here, else beside the binary)");
  app.add_option("--filter", options.filter,
                 "Ids to take: POS[:POS...][-NEG[:NEG...]], globs as in GoogleTest");
  app.add_option("--impl", options.impls, "Impls to take (names or globs)");
  app.add_option("--op", options.ops, "Ops to take (names or globs)");
  app.add_option("--tier", options.tiers, "Tiers to take (repeatable; default: all)")
      ->check(CLI::IsMember({"smoke", "ci", "nightly"}));
  app.add_option("--mode", options.mode, "Only accuracy or only performance rows")
      ->check(CLI::IsMember({"accu", "perf"}));
  app.add_option("--seed", options.seed, "Seed of the cases that do not say their own");
}

void add_benchmark_flag(CLI::App& app, bool& flag) {
  app.add_flag("--benchmark", flag, "Print the times in Google Benchmark's console format too");
}

void add_run(CLI::App& app, RunOptions& options) {
  add_case_options(app, options.cases);
  app.add_option("--device", options.devices,
                 "Index, UUID or part of the name; repeatable, or all (default: the best)");
  app.add_option("--expect-device", options.expect_device,
                 "Refuse to run on a device whose name this regex does not match");
  app.add_option("--out", options.out, "Folder of the reports, one below it a device")->capture_default_str();
  app.add_option("--shaders", options.shaders, "Folder of GLSL files that are taken before the embedded ones")
      ->check(CLI::ExistingDirectory);
  CLI::Option* versus = app.add_option("--versus-shaders", options.versus_shaders,
                                       "Run every row with the GLSL files of this folder too, and compare")
                            ->check(CLI::ExistingDirectory);
  app.add_option("--baseline-impl", options.baseline_impl,
                 "Compare the time of every other impl with that of this one")
      ->excludes(versus);
  app.add_option("--dump", options.dump,
                 "Folder for the tensors of every row as .npy, and the SPIR-V of its dispatches as text");
  app.add_option("--budget", options.budget_s, "Seconds of sampling a performance row may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--ceilings", options.ceilings,
                 "What times are held against: ceilings stored for this device and driver (measured once), "
                 "measured anew, or none")
      ->check(CLI::IsMember({"stored", "measure", "none"}))
      ->capture_default_str();
  app.add_option(
         "--inject-slowdown", options.injected_slowdown_pct,
         "Give every timed program so many percent more work, at least a dispatch: to see that compare "
         "finds it")
      ->check(CLI::Range(0.0, 1000.0));
  app.add_flag("--validation", options.validation,
               "Turn the Khronos validation layer on; its messages fail a case");
  app.add_flag(
      "--watch", options.watch,
      "Run again whenever a case file or a file of the shader folders is saved, and say what changed");
  add_benchmark_flag(app, options.benchmark_console);
  app.add_flag("-v,--verbose", options.verbose, "A line for every case, every failure in full");
}

void add_devices(CLI::App& app, DevicesOptions& options) {
  app.add_option("--device", options.devices, "Index, UUID or part of the name; repeatable (default: all)");
  app.add_flag(
      "--ceilings", options.ceilings,
      "Measure what each reaches (bandwidth by footprint, arithmetic, dispatch spacing), and keep it");
}

void add_report(CLI::App& app, ReportOptions& options) {
  app.add_option("folder", options.folder, "The folder that holds journal.jsonl or journal.jsonl.zst")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--rewrite-journal", options.rewritten_journal,
                 "Write the journal in this version's schema to this file, compressed if it ends in .zst");
  add_benchmark_flag(app, options.benchmark_console);
}

void add_show(CLI::App& app, ShowOptions& options) {
  app.add_option("report", options.report, "A device's folder, its journal.jsonl, or the --out of a run")
      ->required();
  app.add_option("id", options.id, "An id, a glob over ids, or a part of one id")->required();
  app.add_flag("--samples", options.samples, "Every raw sample too, by block");
}

void add_pivot(CLI::App& app, PivotOptions& options) {
  app.add_option("reports", options.reports, "Folders of devices, journals, or folders of several devices")
      ->required();
  app.add_option("--csv", options.csv, "Write the table of times as CSV to this file (- for stdout)");
  app.add_option("--markdown", options.markdown,
                 "Write the tables as Markdown to this file (default: stdout)");
  app.add_flag("--hashes", options.hashes,
               "Compare the hashes of exact outputs instead; 1 is the exit code when any differs");
}

void add_compare(CLI::App& app, CompareRunsOptions& options) {
  app.add_option("runs", options.runs,
                 "BASE NEW: each a device's folder, its journal.jsonl, or the --out of a run")
      ->expected(0, 2);
  app.add_option("--base", options.base, "A run of the base's side; repeatable, runs of a side are pooled");
  app.add_option("--new", options.next, "A run of the new side; likewise");
  app.add_flag("--all", options.all, "Every row, not only those that are not SAME");
  app.add_option("--explain", options.explain, "Say how one row (an id, a glob or a part of one) was judged");
  app.add_option("--csv", options.csv, "Write every row as CSV to this file (- for stdout)");
  app.add_option("--json", options.json, "Write every row with its blocks as JSON to this file");
  app.add_option("--markdown", options.markdown, "Write what is not SAME as Markdown to this file");
  app.add_option("--fail-on", options.fail_on,
                 "Verdicts that make the exit code 1, separated by commas, or none")
      ->capture_default_str();
  app.add_option("--min-effect", options.smallest_effect_pct,
                 "Percent by which a time must differ at the least")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--judge-same-programs", options.judge_same_programs,
               "No ENVIRONMENT: rows of the same program are SLOWER or FASTER too");
}

void add_subcommands(CLI::App& app, Parsed& parsed, const Context& context) {
  const auto add = [&](const char* name, const char* help, std::function<int()> body) {
    CLI::App* command = app.add_subcommand(name, help);
    command->callback([&parsed, body = std::move(body)] { parsed.chosen = body; });
    return command;
  };
  add_run(
      *add("run", "Run cases on a device and write its reports", [&] { return run(parsed.run, context); }),
      parsed.run);
  CLI::App* list_command = add("list", "Print the ids of the cases that run would take",
                               [&] { return list(parsed.list, context); });
  add_case_options(*list_command, parsed.list.cases);
  list_command->add_flag("-l,--long", parsed.list.details, "Mode, tier and file:line too");
  add("ops", "Print the ops; with a name, its parameters and impls", [&] {
    return ops(parsed.op, context);
  })->add_option("name", parsed.op, "An op");
  add("schema", "Print the JSON Schema of case files", [&] { return schema(context); });
  CLI::App* new_op_command = add("new-op", "Write the files of a new op that builds and passes",
                                 [&] { return new_op(parsed.new_op, context); });
  new_op_command->add_option("name", parsed.new_op.name, "Lower-case letters, digits and single underscores")
      ->required();
  new_op_command->add_option("--dir", parsed.new_op.root, "The source tree")->capture_default_str();
  add_devices(*add("devices", "Print the Vulkan devices and what they can do",
                   [&] { return devices(parsed.devices); }),
              parsed.devices);
  add_report(*add("report", "Write a device's reports again from its journal, and print the summary",
                  [&] { return report(parsed.report); }),
             parsed.report);
  add_show(
      *add("show", "Print everything that a report knows about one case", [&] { return show(parsed.show); }),
      parsed.show);
  add_pivot(
      *add("pivot", "Lay the reports of several devices side by side", [&] { return pivot(parsed.pivot); }),
      parsed.pivot);
  add_compare(
      *add("compare", "Judge row by row what two runs differ in", [&] { return compare(parsed.compare); }),
      parsed.compare);
}

}  // namespace

std::function<int()> parse(int argc, char** argv, const Context& context) {
  const auto parsed = std::make_shared<Parsed>();
  CLI::App app{"assay: is a GPU op right, and how fast is it, on every device you own", "assay"};
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  add_subcommands(app, *parsed, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::Usage);
    return [code] { return code; };
  }
  return [parsed] { return parsed->chosen(); };
}

}  // namespace assay::cli
