#include "harness/cases/describe/describe.h"
#include "harness/cli/command.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace assay::cli {

void add_schema(Commands& commands) {
  struct NoOptions {};
  commands.add<NoOptions>(
      "schema", "Print the JSON Schema of case files", [](CLI::App&, NoOptions&) {},
      [](const NoOptions&, const Context& context) {
        std::cout << schema_json(context.registry);
        return ExitCode::Fine;
      });
}

}  // namespace assay::cli
