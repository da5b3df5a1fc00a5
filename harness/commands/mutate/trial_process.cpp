#include "harness/commands/mutate/trial_process.h"

#include "harness/base/error.h"

#include <fmt/format.h>

#include <array>
#include <unistd.h>
#include <utility>

namespace assay::app {
namespace {

constexpr std::size_t most_errors = 2000;

/// Whether there was something; reading never blocks.
bool read_some(int from, std::string& to) {
  std::array<char, 1 << 16> buffer;
  const ssize_t count = ::read(from, buffer.data(), buffer.size());
  if (count <= 0) return false;
  to.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

}  // namespace

TrialProcess::TrialProcess(const std::vector<std::string>& command, const TrialSetup& setup,
                           std::string fingerprint, const Limits& limits)
    : process_(command), fingerprint_(std::move(fingerprint)), limits_(limits) {
  process_.send(line_of(setup));
}

void TrialProcess::begin(const TrialRequest& request) {
  is_busy_ = true;
  now_ = {};
  row_.reset();
  heard_s_ = steady_seconds();
  unsent_ = line_of(request);
  if (is_ready_) send_request();
}

/// A process that does not read is of no use: poll() finds out that it has ended.
void TrialProcess::send_request() {
  if (!unsent_.empty() && !process_.send(unsent_)) process_.kill();
  unsent_.clear();
}

std::optional<TrialOutcome> TrialProcess::poll() {
  if (is_gone_) return std::nullopt;
  const bool has_ended = process_.end().has_value();  // before reading: what it wrote last is read
  read();
  if (auto outcome = take_lines()) return outcome;
  if (is_gone_) return std::nullopt;
  if (has_ended) return ended(false);
  if (is_busy_ && hangs()) return ended(true);
  return std::nullopt;
}

void TrialProcess::read() {
  while (read_some(process_.output(), unread_)) heard_s_ = steady_seconds();
  while (read_some(process_.errors(), errors_)) {
    if (errors_.size() > most_errors) errors_.erase(0, errors_.size() - most_errors);
  }
}

std::optional<TrialOutcome> TrialProcess::take_lines() {
  for (std::size_t end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n')) {
    const std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    if (auto outcome = take(parse_news(line))) return outcome;
  }
  return std::nullopt;
}

std::optional<TrialOutcome> TrialProcess::take(const TrialNews& news) {
  if (news.ready) {
    is_ready_ = true;
    if (*news.ready != fingerprint_) {
      throw Error("trying faults: a worker process found other rows in the case files; were they changed?",
                  ExitCode::Infrastructure);
    }
    send_request();
  } else if (news.row) {
    row_ = *news.row == no_row ? std::nullopt : news.row;
    if (row_) ++now_.result.rows_ran;
  } else if (news.kill) {
    now_.result.kills.push_back(news.kill->kill);
    now_.killers.push_back(news.kill->row);
  } else if (news.damaged || (news.error && row_)) {
    is_gone_ = true;
    return ended(false);
  } else if (news.error) {
    throw Error(*news.error, news.error_code);
  } else {
    is_busy_ = false;
    has_tried_one_ = true;
    is_gone_ = news.end->retires;
    now_.result = news.end->result;
    return std::exchange(now_, {});
  }
  return std::nullopt;
}

bool TrialProcess::hangs() const {
  return steady_seconds() - heard_s_ > (row_ ? limits_.row_s : limits_.between_s);
}

/// The process has ended, or hangs and is killed.
std::optional<TrialOutcome> TrialProcess::ended(bool is_hanging) {
  const auto how = process_.end();
  process_.kill();
  is_gone_ = true;
  const std::string end = is_hanging ? "hung" : how ? to_string(*how) : "ended";
  if (!is_ready_) {
    throw Error(fmt::format("trying faults: a worker process {} before it was ready: {}", end, errors_),
                ExitCode::Infrastructure);
  }
  if (!is_busy_) return std::nullopt;
  is_busy_ = false;
  now_.is_open = !is_hanging && has_tried_one_;
  if (row_) {
    now_.result.kills.push_back({"", is_hanging ? "TIMEOUT" : "CRASH", ""});
    now_.killers.push_back(*row_);
  }
  now_.result.end = now_.result.end_without_shader();
  if (now_.result.end == FaultEnd::DoesNotCompile)
    now_.result.why = fmt::format("compiling it: the process {}", end);
  return std::exchange(now_, {});
}

}  // namespace assay::app
