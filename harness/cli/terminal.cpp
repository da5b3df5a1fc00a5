#include "harness/cli/command.h"

#include <cstdlib>
#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace assay::cli {
namespace {

constexpr std::size_t default_width = 100;

/// Returns the width in columns of the terminal that `fd` refers to, or a default.
std::size_t terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : default_width;
}

}  // namespace

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
