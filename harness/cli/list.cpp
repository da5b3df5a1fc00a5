#include "harness/cases/describe.h"
#include "harness/cli/commands.h"
#include "harness/core/error.h"

#include <iostream>
#include <memory>

namespace assay::cli {
namespace {

struct ListOptions {
  CaseOptions cases;
  bool details = false;
};

int list(const ListOptions& options, const Registry& registry) {
  const LoadResult loaded = load_and_complain(options.cases, registry);
  const std::vector<const Case*> selected = select(loaded.cases, options.cases.selection());
  std::cout << list_cases(selected, options.details);
  return static_cast<int>(loaded.errors.empty() && !selected.empty() ? ExitCode::Fine : ExitCode::Usage);
}

}  // namespace

void add_list(CLI::App& app, Context& context) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* command = app.add_subcommand("list", "Print the ids of the cases that run would take");
  options->cases.add_to(*command);
  command->add_flag("-l,--long", options->details, "Mode, tier and file:line too");
  command->callback([&context, options] {
    context.chosen = [&context, options] { return list(*options, context.registry); };
  });
}

}  // namespace assay::cli
