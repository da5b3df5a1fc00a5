#include "harness/base/error.h"
#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"
#include "harness/commands/read/report.h"
#include "harness/report/console/answers.h"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace assay::cli {
namespace {

/// Adds a question such as "--worst" or "--worst 5"; the number limits the rows of its answer.
void add_question(CLI::App& app, const std::string& name, std::optional<std::size_t>& count,
                  const std::string& help) {
  app.add_option(name, count, help + " (default: " + std::to_string(app::rows_of_an_answer) + ")")
      ->expected(0, 1)
      ->check(whole_number(1, 1'000'000))
      ->type_name("[N]")
      ->default_str(std::to_string(app::rows_of_an_answer));
}

/// What is wrong with a value of --group; empty: nothing.
std::string known_group_key(const std::string& asked) {
  return CLI::IsMember(group_keys())(asked.substr(0, asked.find('=')));
}

void declare_show(CLI::App& app, app::ShowOptions& options) {
  app.add_option("report", options.report, report_help)->required();
  app.add_option("id", options.id,
                 "An id, a glob over ids, or a part of one id; with a question: the rows it considers");
  add_question(app, "--worst", options.worst,
               "Print the N rows that failed or used most of their error bound");
  add_question(app, "--slowest", options.slowest, "Print the N rows with the longest times");
  add_question(app, "--furthest-from-ceiling", options.furthest_from_ceiling,
               "Print the N timed rows that would gain the most time at the ceiling that they are nearer to");
  app.add_option("--group", options.group,
                 "Count rows by this key: rows, failures, shares of the ceiling; for impls, how often each "
                 "is fastest. KEY=GLOB lists the rows of the groups that match. Keys: " +
                     CLI::detail::join(group_keys(), ", "))
      ->check(known_group_key)
      ->type_name("KEY[=GLOB]");
  app.add_option("--op", options.ops,
                 "The ops that a question considers (name or glob; repeatable; default: all)")
      ->allow_extra_args(false);
  CLI::Option* dot =
      app.add_flag("--dot", options.dot, "Print only the plan of a chain, as a Graphviz graph");
  CLI::Option* samples =
      app.add_flag("--samples", options.samples, "Also print every raw sample, by block")->excludes(dot);
  for (const char* question : {"--worst", "--slowest", "--furthest-from-ceiling", "--group"})
    samples->excludes(question);
}

ExitCode show(const app::ShowOptions& options, const Context&) {
  if (!options.ops.empty() && !options.asks()) {
    throw Error(
        "showing rows: --op chooses the rows of a question: ask for --worst, --slowest, "
        "--furthest-from-ceiling or --group");
  }
  return app::show(options, terminal());
}

}  // namespace

void add_show(Commands& commands) {
  commands.add<app::ShowOptions>(
      "show", "Print everything a report knows about one case, or answer a question about its rows",
      declare_show, show);
}

}  // namespace assay::cli
