#include "harness/commands/new_op/new_op.h"

#include "harness/cli/command.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace assay::cli {
namespace {

void declare_new_op(CLI::App& app, app::NewOpOptions& options) {
  app.add_option("name", options.name, "Lower-case letters, digits and single underscores")->required();
  app.add_option("--dir", options.root, "The source tree, or with --external the folder for the op's own")
      ->capture_default_str();
  app.add_flag(
      "--external", options.external,
      "Write a folder with a manifest, a kernel and a reference in Python, for --ops: nothing is built");
}

}  // namespace

void add_new_op(Commands& commands) {
  commands.add<app::NewOpOptions>("new-op", "Write the files of a new op that passes its tests",
                                  declare_new_op,
                                  [](const app::NewOpOptions& options, const Context& context) {
                                    return app::new_op(options, context.registry, std::cout);
                                  });
}

}  // namespace assay::cli
