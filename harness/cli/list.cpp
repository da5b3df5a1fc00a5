#include "harness/base/error.h"
#include "harness/cases/describe.h"
#include "harness/cli/commands.h"

#include <iostream>

namespace assay::cli {

int list(const ListOptions& options, const Context& context) {
  const LoadResult loaded = app::load_and_complain(options.cases, context.registry, std::cerr);
  const std::vector<const Case*> selected = select(loaded.cases, options.cases.selection());
  std::cout << list_cases(selected, options.details);
  return static_cast<int>(loaded.errors.empty() && !selected.empty() ? ExitCode::Fine : ExitCode::Usage);
}

}  // namespace assay::cli
