#include "harness/cases/describe/describe.h"
#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"
#include "harness/commands/external_ops.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>
#include <vector>

namespace assay::cli {

void add_schema(Commands& commands) {
  struct SchemaOptions {
    std::vector<std::filesystem::path> folders;  ///< --ops
  };
  commands.add<SchemaOptions>(
      "schema", "Print the JSON Schema of case files",
      [](CLI::App& app, SchemaOptions& options) { add_op_folders(app, options.folders); },
      [](const SchemaOptions& options, const Context& context) {
        std::cout << schema_json(app::with_ops(context, options.folders).registry);
        return ExitCode::Fine;
      });
}

}  // namespace assay::cli
