#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace assay::test {

/// How a process ended and what it said.
struct Outcome {
  int exit_code = -1;  ///< -1: killed by a signal
  std::string out;
  std::string err;
  double seconds = 0;
  long max_rss_kib = 0;
};

struct Command {
  std::vector<std::string> words;  ///< words[0] is found through PATH when it has no slash
  std::vector<std::pair<std::string, std::string>> environment;  ///< set on top of ours
  std::filesystem::path directory;                               ///< to run in; empty: ours
};

/// Runs to the end; a process that takes longer than a minute is killed.
Outcome run(const Command& command);

/// The assay binary with these arguments.
Outcome assay(std::vector<std::string> arguments,
              std::vector<std::pair<std::string, std::string>> environment = {});

/// Starts without waiting, its output goes to files or is discarded. Returns the process id. Ends it after a
/// minute.
int start(const Command& command, const std::string& out = "/dev/null", const std::string& err = "/dev/null");

/// A new empty folder, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file below the folder and returns its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& file);

/// The only folder or link in `out`, but for those of all runs: the device's newest run. Empty: none yet.
std::filesystem::path device_folder(const std::filesystem::path& out);

}  // namespace assay::test
