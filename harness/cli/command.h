#pragma once

// Each subcommand has a file of its own, which declares its options to CLI11 and calls what does the work
// (harness/commands, or the file itself if the command only prints). CLI11's headers are slow to compile:
// only these files and command_line.cpp include them.

#include "harness/base/error.h"
#include "harness/commands/context.h"

#include <CLI/App.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace assay::cli {

using app::Context;

/// The subcommands of a command line that is being parsed.
class Commands {
 public:
  /// Both must outlive this.
  Commands(CLI::App& app, const Context& context) : app_(app), context_(context) {}

  /// Adds a subcommand. `declare(CLI::App&, Options&)` adds its options; `call(const Options&, const
  /// Context&)` runs it and returns the ExitCode.
  template <class Options, class Declare, class Call>
  void add(const char* name, const char* help, Declare declare, Call call) {
    const auto options = std::make_shared<Options>();
    CLI::App& command = *app_.add_subcommand(name, help);
    declare(command, *options);
    command.callback([this, options, call] {
      chosen_ = [options, call, &context = context_] { return call(*options, context); };
    });
  }

  /// Returns what runs the subcommand that was parsed.
  const std::function<ExitCode()>& chosen() const { return chosen_; }

 private:
  CLI::App& app_;
  const Context& context_;
  std::function<ExitCode()> chosen_;
};

// One function per command, in the file of its name.
void add_run(Commands& commands);
void add_judge(Commands& commands);
void add_fuzz(Commands& commands);
void add_mutate(Commands& commands);
void add_tune(Commands& commands);
void add_list(Commands& commands);
void add_ops(Commands& commands);
void add_schema(Commands& commands);
void add_new_op(Commands& commands);
void add_model(Commands& commands);
void add_devices(Commands& commands);
void add_merge(Commands& commands);
void add_import(Commands& commands);
void add_export(Commands& commands);
void add_report(Commands& commands);
void add_show(Commands& commands);
void add_pivot(Commands& commands);
void add_summary(Commands& commands);
void add_page(Commands& commands);
void add_compare(Commands& commands);
void add_trend(Commands& commands);
void add_verdict(Commands& commands);
void add_prune(Commands& commands);

/// Returns stdout and stderr, in colour where the terminal and NO_COLOR (no-color.org) allow it.
app::Terminal terminal();

}  // namespace assay::cli
