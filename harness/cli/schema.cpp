#include "harness/cases/describe/describe.h"
#include "harness/cli/command.h"
#include "harness/cli/shared_options.h"
#include "harness/commands/context.h"
#include "harness/external/manifest/manifest_schema.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>
#include <vector>

namespace assay::cli {

void add_schema(Commands& commands) {
  struct SchemaOptions {
    std::vector<std::filesystem::path> folders;  ///< --ops
    bool manifest = false;
  };
  commands.add<SchemaOptions>(
      "schema", "Print the JSON Schema of case files, or of ops' manifests",
      [](CLI::App& app, SchemaOptions& options) {
        CLI::Option* folders = add_op_folders(app, options.folders);
        app.add_flag("--manifest", options.manifest, "The schema of manifests (op.yaml)")->excludes(folders);
      },
      [](const SchemaOptions& options, const Context& context) {
        if (options.manifest) {
          std::cout << external::manifest_schema();
          return ExitCode::Fine;
        }
        std::cout << schema_json(app::with_ops(context, options.folders).registry);
        return ExitCode::Fine;
      });
}

}  // namespace assay::cli
