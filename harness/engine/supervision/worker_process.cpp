#include "harness/engine/supervision/worker_process.h"

#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <unistd.h>
#include <utility>

namespace assay {
namespace {

/// Bytes read from one pipe before the others get their turn.
constexpr std::size_t most_at_once = std::size_t{4} << 20;
constexpr std::size_t longest_line = std::size_t{1} << 30;  ///< bytes; a plan of a million rows is shorter
constexpr std::size_t kept_errors = std::size_t{64} << 10;  // an error may be followed by a long dump
constexpr std::size_t most_shown = std::size_t{64} << 10;
constexpr std::size_t most_words = 600;  ///< bytes of last_lines(), without the line that names an error
constexpr std::size_t most_of_error = 300;

/// glibc asks the system for pages of 2 MiB. Rows fill gigabytes of new memory, whose pages of 4 KiB cost
/// virtual machines as much as filling them does.
ChildProcess::Environment environment() {
  return {{"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"}};
}

/// Reads from a pipe, up to a limit, and passes the text to `take`; returns whether the pipe has ended.
template <class Take>
bool drain(int fd, const Take& take) {
  std::array<char, 1 << 16> chunk{};
  for (std::size_t total = 0; total < most_at_once;) {
    const ssize_t count = ::read(fd, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno != EAGAIN;
    if (count == 0) return true;
    total += static_cast<std::size_t>(count);
    take(std::string_view(chunk.data(), static_cast<std::size_t>(count)));
  }
  return false;
}

bool names_error(std::string_view line) {
  constexpr std::array<std::string_view, 5> words{"rror:", "ERROR", "ssertion", "FATAL", "terminate called"};
  return std::ranges::any_of(words, [&](std::string_view word) { return line.find(word) != line.npos; });
}

/// The last line that names an error, shortened; empty: none does.
std::string_view last_error(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.rfind('\n');
    const std::string_view line = text.substr(end == text.npos ? 0 : end + 1);
    if (names_error(line)) return line.substr(0, most_of_error);
    text = text.substr(0, end == text.npos ? 0 : end);
  }
  return {};
}

}  // namespace

std::string last_lines(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (text.size() <= most_words) return std::string(text);
  std::size_t begin = text.size() - most_words;
  const std::size_t line = text.find('\n', begin);
  if (line != text.npos) begin = line + 1;
  const std::string end(text.substr(begin));
  const std::string_view error = last_error(end).empty() ? last_error(text.substr(0, begin)) : "";
  return error.empty() ? end : fmt::format("{}\n...\n{}", error, end);
}

std::string with_last_words(const std::string& what, const Worker& worker) {
  const std::string words = worker.last_words();
  return words.empty() ? what : what + "; its last words: " + printable(words);
}

WorkerProcess::WorkerProcess(std::vector<std::string> command, std::function<void(std::string_view)> errors)
    : command_(std::move(command)), errors_(std::move(errors)) {}

void WorkerProcess::start() {
  process_.reset();
  unfinished_.clear();
  newest_errors_.clear();
  unfinished_errors_.clear();
  shown_bytes_ = 0;
  output_ended_ = errors_ended_ = false;
  process_ = std::make_unique<ChildProcess>(command_, environment());
  pid_ = process_->pid();
}

void WorkerProcess::send(std::string_view line) {
  if (process_) process_->send(std::string(line) + '\n');
}

void WorkerProcess::kill() {
  if (process_) process_->kill();
}

std::string WorkerProcess::last_words() const {
  return last_lines(newest_errors_);
}

std::string WorkerProcess::name() const {
  return fmt::format("process {}", pid_);
}

void WorkerProcess::wait_for(std::vector<pollfd>& list) const {
  if (!process_) return;
  if (!output_ended_) list.push_back({process_->output(), POLLIN, 0});
  if (!errors_ended_) list.push_back({process_->errors(), POLLIN, 0});
}

std::optional<ChildEnd> WorkerProcess::read(const std::function<void(std::string_view)>& line) {
  if (!process_) return std::nullopt;
  const ChildProcess* const before = process_.get();
  const std::optional<ChildEnd> end =
      process_->end();  // queried first: then all of its output is there to be read
  const bool all_errors = read_errors();
  const bool all_output = read_output(line);
  if (process_.get() != before || !end || !all_errors || !all_output) return std::nullopt;
  process_.reset();
  return end;
}

/// Reads stdout; returns whether there is nothing more to read now.
bool WorkerProcess::read_output(const std::function<void(std::string_view)>& line) {
  if (output_ended_) return true;
  std::string text;
  bool is_all = true;
  output_ended_ = drain(process_->output(), [&](std::string_view chunk) { text += chunk; });
  is_all = output_ended_ || text.size() < most_at_once;
  text.insert(0, std::exchange(unfinished_, {}));
  std::string_view rest = text;
  for (std::size_t end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
    line(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  unfinished_ = rest;
  if (unfinished_.size() > longest_line) {
    line(std::string_view(unfinished_)
             .substr(0, 1 << 10));  // too long for an event: the supervisor reports it
    unfinished_.clear();
  }
  return is_all;
}

bool WorkerProcess::read_errors() {
  if (errors_ended_) return true;
  std::size_t size = 0;
  errors_ended_ = drain(process_->errors(), [&](std::string_view chunk) {
    size += chunk.size();
    take_errors(chunk);
  });
  return errors_ended_ || size < most_at_once;
}

void WorkerProcess::take_errors(std::string_view text) {
  show_errors(text);
  newest_errors_ += text;
  if (newest_errors_.size() > kept_errors) newest_errors_.erase(0, newest_errors_.size() - kept_errors);
}

/// Shows text line by line, so that lines of several workers do not mix.
void WorkerProcess::show_errors(std::string_view text) {
  if (!errors_ || shown_bytes_ >= most_shown) return;
  shown_bytes_ += text.size();
  unfinished_errors_ += text;
  const std::size_t end = unfinished_errors_.rfind('\n');
  if (end != std::string::npos) {
    errors_(std::string_view(unfinished_errors_).substr(0, std::min(end + 1, most_shown)));
    unfinished_errors_.erase(0, end + 1);
  }
  if (shown_bytes_ >= most_shown) errors_("(the worker's further output is not shown)\n");
}

}  // namespace assay
