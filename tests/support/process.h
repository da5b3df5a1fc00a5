#pragma once

#include "tests/support/temporary_folder.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace assay::test {

/// How a process ended and what it said.
struct ProcessResult {
  int exit_code = -1;  ///< -1: killed by a signal
  std::string out;
  std::string err;
  long max_rss_kib = 0;
};

struct Command {
  std::vector<std::string> words;  ///< words[0] is found through PATH when it has no slash
  std::vector<std::pair<std::string, std::string>> environment;  ///< set on top of ours
  std::filesystem::path directory;                               ///< to run in; empty: ours
};

/// Runs to the end; a process that hangs for four minutes is killed.
ProcessResult run(const Command& command);

/// Starts without waiting, its output goes to files or is discarded. Returns the process id. Ends it after
/// four minutes.
int start(const Command& command, const std::filesystem::path& out = "/dev/null",
          const std::filesystem::path& err = "/dev/null");

/// The only folder or link in `out`, but for those of all runs: the device's newest run. Empty: none yet.
std::filesystem::path device_folder(const std::filesystem::path& out);

}  // namespace assay::test
