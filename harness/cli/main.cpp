#include "harness/base/error.h"
#include "harness/cli/commands.h"
#include "ops/registry.h"

#include "build_info.h"
#include <exception>
#include <iostream>

namespace {

int run_main(int argc, char** argv) {
  const assay::Registry registry = assay::ops::registry();
  const assay::app::Context context{
      registry,
      {argv, argv + argc},
      {assay::cli::version(), ASSAY_COMPILER, ASSAY_BUILD_TYPE, assay::cli::reference_code()}};
  return assay::cli::parse(argc, argv, context)();
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
