#include "harness/cli/command_line.h"

#include "harness/base/text.h"
#include "harness/cases/yaml/nearest.h"
#include "harness/cli/command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

namespace assay::cli {
namespace {

/// In the order of the help: what runs cases or lists what can be run, what reads reports, what maintains a
/// farm's.
constexpr std::array all_commands{add_run,    add_judge,   add_fuzz,   add_mutate,  add_tune,    add_list,
                                  add_ops,    add_schema,  add_new_op, add_model,   add_devices, add_merge,
                                  add_import, add_export,  add_report, add_show,    add_pivot,   add_summary,
                                  add_page,   add_compare, add_trend,  add_verdict, add_prune};

/// Throws Error(Usage) if the first word is neither a subcommand nor an option.
void refuse_unknown_command(const CLI::App& app, std::span<char* const> words) {
  if (words.size() < 2 || *words[1] == '-') return;
  const std::string word = words[1];
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::ranges::find(names, word) != names.end()) return;
  const std::string meant = cases::nearest(word, names);
  const std::string hint = meant.empty() ? fmt::format("; the commands are: {}", fmt::join(names, ", "))
                                         : fmt::format("; did you mean '{}'?", meant);
  throw Error(fmt::format("unknown command '{}'{}", shortened(word, 60), hint));
}

/// Lets no option of `command` take another's name as its value: `--markdown --layers` would write a file
/// that is named so.
void refuse_options_as_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_items_expected_max() == 0 || option->get_positional()) continue;
    option->check(CLI::Validator(
        [&command](const std::string& value) {
          if (!value.starts_with("--") || command.get_option_no_throw(value) == nullptr) return std::string();
          return fmt::format("needs a value, but '{}' is an option; './{}' is a file of that name", value,
                             value);
        },
        ""));
  }
}

constexpr std::size_t default_width = 100;

/// Returns the width in columns of the terminal that `fd` refers to, or a default.
std::size_t terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : default_width;
}

}  // namespace

std::function<ExitCode()> parse(int argc, char** argv, const app::Context& context) {
  CLI::App app{"assay: test GPU ops for accuracy and measure their speed, on every Vulkan device you own",
               "assay"};
  app.set_version_flag("--version", context.build.version);
  app.require_subcommand(1);
  Commands commands(app, context);
  for (const auto add : all_commands) add(commands);
  for (CLI::App* command : app.get_subcommands({})) refuse_options_as_values(*command);
  refuse_unknown_command(app, {argv, static_cast<std::size_t>(argc)});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream help;
    std::ostringstream errors;
    const int status = app.exit(error, help, errors);
    std::cout << help.str();
    std::cerr << printable(errors.str());  // it quotes arguments
    return [code = status == 0 ? ExitCode::Fine : ExitCode::Usage] { return code; };
  }
  return commands.chosen();
}

app::Terminal terminal() {
  const char* no_color = std::getenv("NO_COLOR");
  const bool color = ::isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
  return {
      std::cout,
      std::cerr,
      std::cerr,
      {.color = color, .is_terminal = ::isatty(STDERR_FILENO) != 0, .width = terminal_width(STDOUT_FILENO)}};
}

}  // namespace assay::cli
