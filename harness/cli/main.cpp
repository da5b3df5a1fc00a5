#include "harness/cli/commands.h"
#include "harness/core/error.h"
#include "ops/registry.h"

#include "build_info.h"
#include <exception>
#include <iostream>

namespace {

int run_main(int argc, char** argv) {
  const assay::Registry registry = assay::ops::registry();
  assay::cli::Context context{registry, {argv, argv + argc}, {}};
  CLI::App app{"assay: is a GPU op right, and how fast is it, on every device you own", "assay"};
  app.set_version_flag("--version", ASSAY_VERSION);
  app.require_subcommand(1);
  assay::cli::add_run(app, context);
  assay::cli::add_list(app, context);
  assay::cli::add_ops(app, context);
  assay::cli::add_schema(app, context);
  assay::cli::add_devices(app, context);
  assay::cli::add_report(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(assay::ExitCode::Usage);
  }
  return context.chosen();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const assay::Error& error) {
    std::cerr << "assay: " << error.what() << '\n';
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::cerr << "assay: internal error: " << error.what() << '\n';
    return static_cast<int>(assay::ExitCode::Infrastructure);
  }
}
