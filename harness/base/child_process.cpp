#include "harness/base/child_process.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace assay {
namespace {

constexpr double most_send_s = 10;      ///< for a process that does not read its stdin
constexpr double most_reaping_s = 0.5;  ///< time to wait for a killed process before giving it up

/// Returns the name of a signal that ends processes. sigabbrev_np() would do, but only glibc has it.
std::string name_of_signal(int signal) {
  switch (signal) {
    case SIGABRT:
      return "SIGABRT";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGHUP:
      return "SIGHUP";
    case SIGILL:
      return "SIGILL";
    case SIGINT:
      return "SIGINT";
    case SIGKILL:
      return "SIGKILL";
    case SIGPIPE:
      return "SIGPIPE";
    case SIGSEGV:
      return "SIGSEGV";
    case SIGSYS:
      return "SIGSYS";
    case SIGTERM:
      return "SIGTERM";
    case SIGTRAP:
      return "SIGTRAP";
    case SIGXCPU:
      return "SIGXCPU";
    default:
      return fmt::format("signal {}", signal);
  }
}

[[noreturn]] void throw_start_error(const std::vector<std::string>& command, int error) {
  throw Error(fmt::format("cannot start '{}': {}", command.empty() ? "" : command.front(),
                          std::generic_category().message(error)),
              ExitCode::Infrastructure);
}

/// Opens three pipes: the reading and writing end of each in turn. Other child processes do not inherit them.
std::vector<int> three_pipes(const std::vector<std::string>& command) {
  std::vector<int> ends;
  for (int i = 0; i < 3; ++i) {
    std::array<int, 2> pair{};
    if (::pipe2(pair.data(), O_CLOEXEC) != 0) {
      const int error = errno;
      for (const int fd : ends) ::close(fd);
      throw_start_error(command, error);
    }
    ends.insert(ends.end(), pair.begin(), pair.end());
  }
  return ends;
}

void do_not_block(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/// Our environment, and the variables that it does not set.
std::vector<std::string> environment_with(const ChildProcess::Environment& unless_set) {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) all.emplace_back(*one);
  for (const auto& [name, value] : unless_set) {
    const std::string begin = name + '=';
    const auto sets_it = [&begin](const std::string& one) { return one.starts_with(begin); };
    if (std::ranges::none_of(all, sets_it)) all.push_back(begin + value);
  }
  return all;
}

/// As posix_spawn() takes them: pointers to these words, and null.
std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Settings for posix_spawn: the pipes' ends as stdin, stdout and stderr, a process group, no blocked signal.
class SpawnSettings {
 public:
  SpawnSettings(int input, int output, int errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  pid_t start(const std::vector<std::string>& command, const std::vector<std::string>& environment) const {
    const std::vector<char*> words = pointers_to(command), variables = pointers_to(environment);
    pid_t pid = 0;
    const int error =
        ::posix_spawnp(&pid, words.front(), &actions_, &attributes_, words.data(), variables.data());
    if (error != 0) throw_start_error(command, error);
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

std::string to_string(const ChildEnd& end) {
  if (end.signal != 0) {
    return fmt::format("was ended by {} ({})", name_of_signal(end.signal), ::strsignal(end.signal));
  }
  const std::string exited = fmt::format("exited with code {}", end.exit_code);
  return end.any_signal() == 0 ? exited
                               : exited + ", the shell's code for " + name_of_signal(end.any_signal());
}

ChildProcess::ChildProcess(const std::vector<std::string>& command, const Environment& unless_set)
    : ChildProcess(command, unless_set, three_pipes(command)) {}

ChildProcess::ChildProcess(const std::vector<std::string>& command, const Environment& unless_set,
                           std::vector<int> pipes)
    : input_(pipes[1]), output_(pipes[2]), errors_(pipes[4]) {
  const FileDescriptor its_input(pipes[0]);
  const FileDescriptor its_output(pipes[3]);
  const FileDescriptor its_errors(pipes[5]);
  for (const int fd : {input_.get(), output_.get(), errors_.get()}) do_not_block(fd);
  pid_ = SpawnSettings(its_input.get(), its_output.get(), its_errors.get())
             .start(command, environment_with(unless_set));
}

ChildProcess::~ChildProcess() {
  kill();
  const Stopwatch watch;
  while (!end() && watch.s() < most_reaping_s) sleep_for_seconds(0.002);
}

bool ChildProcess::send(std::string_view text) {
  const Stopwatch watch;
  while (!text.empty() && input_.get() >= 0) {
    const ssize_t count = ::write(input_.get(), text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN && watch.s() < most_send_s) {
      pollfd ready{input_.get(), POLLOUT, 0};
      ::poll(&ready, 1, 100);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return text.empty();
}

void ChildProcess::kill() {
  if (end_) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);  // until the child leads its group, the group's kill below misses it
}

std::optional<ChildEnd> ChildProcess::end() {
  if (end_) return end_;
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  ChildEnd& end = end_.emplace();
  if (ended < 0) return end_;  // the process was already waited for elsewhere
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  ::kill(-pid_, SIGKILL);  // the processes that it started and left running
  return end_;
}

std::vector<std::string> shell_command(const std::string& line) {
  return {"/bin/sh", "-c", line};
}

}  // namespace assay
