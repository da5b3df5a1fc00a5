#include "harness/cli/run_once.h"

#include <iostream>

namespace assay::cli {

int run(const RunOptions& options, const Context& context) {
  if (options.watch) return watch(options, context);
  std::unique_ptr<RunDevices> devices;
  return static_cast<int>(run_once(options, context, devices, {std::cout, std::cerr}).code);
}

}  // namespace assay::cli
