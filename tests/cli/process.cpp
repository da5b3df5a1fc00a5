#include "tests/cli/process.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::test {
namespace {

constexpr unsigned time_limit_s = 60;

[[noreturn]] void become(const Command& command, const std::string& out, const std::string& err) {
  const auto redirect = [](const std::string& file, int target) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(fd, target);
  };
  redirect(out, STDOUT_FILENO);
  redirect(err, STDERR_FILENO);
  for (const auto& [name, value] : command.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0) ::_exit(126);
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::alarm(time_limit_s);  // survives exec: a hang ends in a signal, not in a stuck test
  ::execvp(words[0], words.data());
  ::_exit(127);
}

int spawn(const Command& command, const std::string& out, const std::string& err) {
  const int pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid == 0) become(command, out, err);
  return pid;
}

}  // namespace

Outcome run(const Command& command) {
  const TemporaryFolder folder;
  const auto started = std::chrono::steady_clock::now();
  const int pid = spawn(command, folder / "out", folder / "err");
  int status = 0;
  rusage usage{};
  if (::wait4(pid, &status, 0, &usage) != pid) throw std::runtime_error("wait4 failed");
  Outcome outcome;
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  outcome.out = read_file(folder / "out");
  outcome.err = read_file(folder / "err");
  outcome.max_rss_kib = usage.ru_maxrss;
  return outcome;
}

Outcome assay(std::vector<std::string> arguments,
              std::vector<std::pair<std::string, std::string>> environment) {
  arguments.insert(arguments.begin(), ASSAY_BINARY);
  return run({.words = std::move(arguments), .environment = std::move(environment)});
}

int start(const Command& command, const std::string& out, const std::string& err) {
  return spawn(command, out, err);
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "assay-cli-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& text) const {
  const std::filesystem::path file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file.string();
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
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
