#include "tests/support/process.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::test {
namespace {

constexpr unsigned time_limit_s = 240;  // a hang, not a busy machine

[[noreturn]] void become(const Command& command, const std::filesystem::path& out,
                         const std::filesystem::path& err) {
  const auto redirect = [](const std::filesystem::path& file, int target) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(fd, target);
  };
  redirect(out, STDOUT_FILENO);
  redirect(err, STDERR_FILENO);
  // A test executable that a test starts is whole, not a shard.
  for (const char* shard : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) ::unsetenv(shard);
  // Each of the many programs that a script starts would load it (the tests' allocator).
  if (command.words.front().ends_with(".sh")) ::unsetenv("LD_PRELOAD");
  for (const auto& [name, value] : command.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0) ::_exit(126);
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::alarm(time_limit_s);  // survives exec: a hang ends in a signal, not in a stuck test
  ::execvp(words[0], words.data());
  ::_exit(127);
}

int spawn(const Command& command, const std::filesystem::path& out, const std::filesystem::path& err) {
  const int pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid == 0) become(command, out, err);
  return pid;
}

}  // namespace

ProcessResult run(const Command& command) {
  const TemporaryFolder folder;
  const int pid = spawn(command, folder / "out", folder / "err");
  int status = 0;
  rusage usage{};
  if (::wait4(pid, &status, 0, &usage) != pid) throw std::runtime_error("wait4 failed");
  ProcessResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.out = read_file(folder / "out");
  result.err = read_file(folder / "err");
  result.max_rss_kib = usage.ru_maxrss;
  return result;
}

int start(const Command& command, const std::filesystem::path& out, const std::filesystem::path& err) {
  return spawn(command, out, err);
}

std::filesystem::path device_folder(const std::filesystem::path& out) {
  std::filesystem::path found;
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    if (entry.path().filename() == "runs" || entry.path().filename() == "scratch") continue;
    if (!found.empty()) throw std::runtime_error("several device folders in " + out.string());
    found = entry.path();
  }
  return found;
}

}  // namespace assay::test
