#include "harness/gpu/shaders/compile_process.h"

#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/compile.h"
#include "harness/gpu/spirv/spirv_instructions.h"
#include "harness/gpu/spirv/spirv_rewrites.h"
#include "harness/gpu/spirv/spirv_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <new>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// A request goes to the other process's stdin, the answer comes from its stdout. Both are lists of texts,
// each preceded by its length in decimal and a colon.

namespace assay::gpu {
namespace {

constexpr rlim_t most_memory = rlim_t{2} << 30;
constexpr rlim_t most_cpu_s = 20;
constexpr double most_wall_s = 120;  ///< for a process that gets no CPU time: a swapping machine, a debugger

constexpr std::string_view compiled = "compiled";
constexpr std::string_view refused = "refused";
constexpr std::string_view stopped = "stopped";

void put(std::string& all, std::string_view text) {
  all += fmt::format("{}:", text.size());
  all += text;
}

/// Takes texts from the front; "" when none is left.
class Texts {
 public:
  explicit Texts(std::string_view all) : rest_(all) {}

  std::string_view next() {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
    const auto head = static_cast<std::size_t>(end - rest_.data()) + 1;
    if (error != std::errc{} || head > rest_.size() || size > rest_.size() - head) return rest_ = {};
    const std::string_view text = rest_.substr(head, size);
    rest_.remove_prefix(head + size);
    return text;
  }

  std::size_t next_number() {
    const std::string_view text = next();
    std::size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }

 private:
  std::string_view rest_;
};

std::string request_of(const std::string& name, const std::map<std::string, ShaderSource>& sources,
                       const std::vector<Define>& defines, const std::string& places) {
  std::string request;
  put(request, name);
  put(request, places);
  put(request, std::to_string(sources.size()));
  for (const auto& [key, source] : sources) {
    put(request, key);
    put(request, source.display);
    put(request, source.text);
  }
  put(request, std::to_string(defines.size()));
  for (const Define& define : defines) {
    put(request, define.name);
    put(request, define.value);
  }
  return request;
}

std::vector<std::uint32_t> compile_request(std::string_view request) {
  Texts texts(request);
  const std::string name(texts.next());
  const std::string places(texts.next());
  std::map<std::string, ShaderSource> sources;
  for (std::size_t left = texts.next_number(); left > 0; --left) {
    ShaderSource source{.name = std::string(texts.next())};
    source.display = texts.next();
    source.text = texts.next();
    sources.emplace(source.name, source);
  }
  std::vector<Define> defines;
  for (std::size_t left = texts.next_number(); left > 0; --left) {
    Define& define = defines.emplace_back();
    define.name = texts.next();
    define.value = texts.next();
  }
  const ShaderSource& source = sources.at(name);
  if (source.is_module()) return checked_module(source);
  const GlslangProcess glslang;
  std::vector<std::uint32_t> words = compile_glsl(name, sources, defines, places);
  check_module(source.display, words);
  return finished_module(source.display, std::move(words), defines);
}

std::string answer_to(std::string_view request) {
  std::string answer;
  try {
    const std::vector<std::uint32_t> words = compile_request(request);
    put(answer, compiled);
    put(answer, {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::uint32_t)});
  } catch (const CompileError& error) {
    put(answer, refused);
    put(answer, error.what());
  } catch (const std::bad_alloc&) {
    answer.clear();
    put(answer, stopped);
    put(answer,
        fmt::format("compiling it failed: it takes more than {} GiB of memory; do macros expand without end?",
                    most_memory >> 30U));
  }
  return answer;
}

void limit_this_process() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // without the parent the answer is useless
  const rlimit cpu{most_cpu_s, most_cpu_s + 1};
  ::setrlimit(RLIMIT_CPU, &cpu);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
#ifndef __SANITIZE_ADDRESS__  // it reserves terabytes of address space
  const rlimit memory{most_memory, most_memory};
  ::setrlimit(RLIMIT_AS, &memory);
#endif
}

/// A process whose stdin and stdout are one end of a socket pair; the other end is ours.
class Compiler {
 public:
  explicit Compiler(const std::vector<std::string>& command) : socket_(start(command)) {}
  ~Compiler() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  /// Sends a request; returns whether all of it was read, which the process does before anything else.
  bool send(std::string_view request) {
    while (!request.empty()) {
      const ssize_t count = ::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      request.remove_prefix(static_cast<std::size_t>(count));
    }
    return ::shutdown(socket_.get(), SHUT_WR) == 0;
  }

  /// Everything that it writes until it ends or the time limit is reached.
  std::string answer() {
    const Stopwatch watch;
    std::string all;
    std::array<char, 1 << 16> chunk{};
    while (watch.s() < most_wall_s) {
      pollfd ready{socket_.get(), POLLIN, 0};
      if (::poll(&ready, 1, 1000) <= 0) continue;
      const ssize_t count = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return all;
      all.append(chunk.data(), static_cast<std::size_t>(count));
    }
    ::kill(pid_, SIGKILL);
    return {};
  }

  /// Waits for its end and returns the status of waitpid().
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
  }

 private:
  int start(const std::vector<std::string>& command) {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail(errno);
    FileDescriptor ours(ends[0]);
    const FileDescriptor theirs(ends[1]);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
    const int error = ::posix_spawn(&pid_, words.front(), &actions, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) fail(error);
    return ours.release();
  }

  [[noreturn]] static void fail(int error) {
    throw Error(fmt::format("starting a process that compiles shaders: {}", std::strerror(error)),
                ExitCode::Infrastructure);
  }

  pid_t pid_ = 0;
  FileDescriptor socket_;
};

std::string why_it_ended(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("it ended with code {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  if (signal == SIGXCPU || signal == SIGKILL) {
    return fmt::format("it took more than {} s and was stopped; do macros expand without end?", most_cpu_s);
  }
  return fmt::format("the compiler crashed (signal {})", signal);
}

}  // namespace

std::vector<std::uint32_t> checked_module(const ShaderSource& source) {
  constexpr std::size_t word = sizeof(std::uint32_t);
  std::vector<std::uint32_t> words(source.text.size() / word);
  std::memcpy(words.data(), source.text.data(), words.size() * word);
  if (words.empty() || source.text.size() % word != 0 || words.front() != spv::MagicNumber) {
    throw CompileError(fmt::format(
        "{}: it is no SPIR-V module of this machine's byte order: a module has {}-byte words, the "
        "first of them {:#010x}",
        source.display, word, static_cast<std::uint32_t>(spv::MagicNumber)));
  }
  check_module(source.display, words);
  return with_entry_main(words);
}

std::vector<std::uint32_t> compile_in_process(const std::vector<std::string>& command,
                                              const std::string& name,
                                              const std::map<std::string, ShaderSource>& sources,
                                              const std::vector<Define>& defines, const std::string& places) {
  Compiler compiler(command);
  const bool sent = compiler.send(request_of(name, sources, defines, places));
  const std::string answer = sent ? compiler.answer() : "";
  const int status = compiler.wait();
  Texts texts(answer);
  const std::string_view kind = texts.next();
  const std::string_view content = texts.next();
  if (kind == refused) throw CompileError(std::string(content));
  if (kind == stopped) throw CompilerStopped(fmt::format("{}: {}", sources.at(name).display, content));
  if (kind != compiled || content.empty()) {
    throw CompilerStopped(
        fmt::format("{}: compiling it failed: {}", sources.at(name).display, why_it_ended(status)));
  }
  std::vector<std::uint32_t> words(content.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), content.data(), words.size() * sizeof(std::uint32_t));
  return words;
}

int serve_compilation() {
  limit_this_process();
  const std::string request = read_to_end(STDIN_FILENO).value_or("");
  const std::string answer = answer_to(request);
  return write_bytes(STDOUT_FILENO, answer) == answer.size() ? 0 : 1;
}

}  // namespace assay::gpu
