#include "harness/report/journal/journal.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/journal/report_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <functional>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds sync_every{500};

// Size of the file's complete lines: up to the last line feed.
off_t size_of_whole_lines(int fd, off_t size) {
  std::array<char, 4096> chunk{};
  while (size > 0) {
    const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(chunk.size()));
    const ssize_t count = ::pread(fd, chunk.data(), static_cast<std::size_t>(size - begin), begin);
    if (count <= 0) return -1;
    const std::string_view text(chunk.data(), static_cast<std::size_t>(count));
    if (const auto at = text.rfind('\n'); at != text.npos) return begin + static_cast<off_t>(at) + 1;
    size = begin;
  }
  return 0;
}

int open_for_append(const std::filesystem::path& path) {
  make_directories(path.parent_path());
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0 && errno == ELOOP) {
    throw Error(
        "cannot open the journal " + path.string() + ": it is a link; remove it or choose another folder",
        ExitCode::Infrastructure);
  }
  if (fd < 0) throw_file_error("open the journal", path, errno);
  return fd;
}

/// The action, whose errors also say what can be done about a line that cannot be read. Refuses a file that
/// does not begin like a journal, which is another of a report's files in most cases.
LineAction explained(LineAction action) {
  return [action = std::move(action), is_first = true](std::string_view line) mutable {
    if (std::exchange(is_first, false) && !line.empty() && !line.starts_with('{')) {
      throw Error(
          "this is not a journal, each line of which is a JSON object: name the folder of a run's "
          "report, or the journal.jsonl in it; if its first line is damaged, `assay report --salvage` reads "
          "around it");
    }
    try {
      action(line);
    } catch (const Contradiction&) {
      throw;
    } catch (const OtherSchema&) {
      throw;
    } catch (const Error& error) {
      throw Error(std::string("this line of the journal is damaged: ") + error.what() +
                  "; `assay report --salvage` reads around such lines");
    }
  };
}

/// The report of a journal. `action` passes each line to the builder. Refuses a journal that holds no report.
RunReport built(ReportBuilder& builder, const std::filesystem::path& path, const LineAction& action) {
  std::size_t count = 0;
  const LineAction counted = [&](std::string_view line) {
    ++count;
    action(line);
  };
  if (for_each_line(path, explained(counted))) builder.cut_off();
  if (!builder.has_run()) {
    throw Error(path.string() +
                ": the journal does not name its run: it is empty or ended before the run began");
  }
  if (builder.has_plan()) return std::move(builder).take_report();
  throw Error(
      fmt::format("{}:{}: the journal ends here without a plan, so it does not say which rows there "
                  "were: the run ended before it, or lines are missing",
                  path.string(), count));
}

struct TextOfLines final : EventLines {
  std::string text;
  void line(std::string_view line) override { text.append(line) += '\n'; }
};

}  // namespace

FilePlace::FilePlace(fs::path path, int fd) : path_(std::move(path)), fd_(fd) {
  struct stat open {};
  if (::fstat(fd, &open) != 0 || !S_ISREG(open.st_mode)) return;
  device_ = open.st_dev;
  number_ = open.st_ino;
  is_checked_ = names_the_file(path_);
}

/// An error other than that nothing is there (no permission, a network that is down) proves nothing.
bool FilePlace::names_the_file(const fs::path& path) const {
  struct stat at_path {};
  if (::lstat(path.c_str(), &at_path) != 0) return errno != ENOENT && errno != ENOTDIR;
  return at_path.st_dev == device_ && at_path.st_ino == number_;
}

/// Where the file is now; empty if it is nowhere.
fs::path FilePlace::path_now() const {
  std::error_code error;
  const fs::path path = fs::read_symlink(fmt::format("/proc/self/fd/{}", fd_), error);
  return !error && names_the_file(path) ? path : fs::path();
}

void FilePlace::copy_to(const fs::path& path) const {
  make_directories(path.parent_path());
  FileDescriptor copy(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (copy.get() < 0) throw_file_error("create", path, errno);
  std::array<char, 1 << 16> chunk{};
  off_t done = 0;
  while (true) {
    const ssize_t count = ::pread(fd_, chunk.data(), chunk.size(), done);
    if (count < 0) throw_file_error("read", path, errno);
    if (count == 0) break;
    const std::string_view piece(chunk.data(), static_cast<std::size_t>(count));
    if (write_bytes(copy.get(), piece) != piece.size()) throw_file_error("write", path, errno);
    done += count;
  }
  if (::fsync(copy.get()) != 0 || !copy.close()) throw_file_error("write", path, errno);
}

std::string FilePlace::rescue() const {
  if (const fs::path now = path_now(); !now.empty()) {
    return fmt::format(
        "was moved to {} while the run wrote it: the run ends here; move it back and resume it with `assay "
        "run --resume`, or read it where it is",
        now.string());
  }
  std::error_code error;
  const bool is_taken = fs::exists(fs::symlink_status(path_, error));
  const fs::path copy = is_taken ? fs::path(path_.string() + ".saved") : path_;
  try {
    copy_to(copy);
  } catch (const Error& failure) {
    return fmt::format("was removed while the run wrote it: the run ends here; its events are lost: {}",
                       failure.what());
  }
  if (is_taken) {
    return fmt::format(
        "was replaced by another file while the run wrote it: the run ends here; its events up to now are "
        "in {}, so move that back before `assay run --resume`",
        copy.string());
  }
  return "was removed while the run wrote it: the run ends here; its events up to now were written there "
         "again, so `assay run --resume` runs the rest";
}

Journal::Journal(std::filesystem::path path, bool append)
    : path_(std::move(path)),
      file_(open_for_append(path_)),
      place_(path_, file_.get()),
      sync_(file_.get(), sync_every) {
  lock();
  cut_to_whole_lines(append);
}

void Journal::lock() const {
  // The lock ends with the process, however that ends. On a file system without locks nothing is locked.
  // is_being_written() has a lock for a moment, too.
  constexpr int tries = 100;
  constexpr auto between = std::chrono::milliseconds(10);
  for (int i = 0; i < tries; ++i) {
    if (i > 0) std::this_thread::sleep_for(between);
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  }
  throw Error("cannot write the journal " + path_.string() +
                  ": another run is writing it; wait for that run or choose another folder",
              ExitCode::Infrastructure);
}

void Journal::cut_to_whole_lines(bool append) {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) throw_file_error("read the journal", path_, errno);
  if (!S_ISREG(status.st_mode)) return;
  const off_t kept = append ? size_of_whole_lines(file_.get(), status.st_size) : 0;
  if (kept < 0) throw_file_error("read the journal", path_, errno);
  if (kept == status.st_size) return;
  if (::ftruncate(file_.get(), kept) != 0) throw_file_error("write the journal", path_, errno);
}

/// The event is written before, so that it is part of what is saved.
void Journal::check_place() {
  if (place_.has_file()) return;
  lost_because_ = fmt::format("the journal {} {}", path_.string(), place_.rescue());
  throw Error(lost_because_, ExitCode::Infrastructure);
}

void Journal::line(std::string_view line) {
  if (!lost_because_.empty()) throw Error(lost_because_, ExitCode::Infrastructure);
  const std::string text = std::string(line) + '\n';
  const std::size_t written = write_bytes(file_.get(), text);
  const int error = errno;
  sync_.written();
  if (written == text.size()) {
    if (sync_.error() != 0) throw_file_error("sync the journal", path_, sync_.error());
    return check_place();
  }
  // A partly written line is removed, so that the journal stays readable.
  struct stat status {};
  if (written > 0 && ::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode)) {
    [[maybe_unused]] const int result =
        ::ftruncate(file_.get(), status.st_size - static_cast<off_t>(written));
  }
  throw_file_error("write the journal", path_, error);
}

bool is_being_written(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return file.get() >= 0 && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

RunReport read_journal(const std::filesystem::path& path) {
  ReportBuilder builder;
  return built(builder, path, [&](std::string_view line) { builder.line(line); });
}

RunReport read_journal(const std::filesystem::path& path, RunListener& also) {
  ReportBuilder builder;
  return built(builder, path, [&](std::string_view line) { builder.line(line, also); });
}

SalvagedJournal salvage_journal(const std::filesystem::path& path) {
  SalvagedJournal salvaged;
  ReportBuilder builder;
  std::size_t number = 0;
  const auto leave_out = [&](const std::string& why) {
    builder.left_out_line();
    if (++salvaged.left_out_count <= most_left_out_named) salvaged.left_out.push_back({number, why});
  };
  const auto take = [&](std::string_view line) {
    ++number;
    // A file may hold millions of bad lines, and an exception takes as long as reading a hundred of them.
    const bool is_named = salvaged.left_out_count < most_left_out_named;
    if (!is_named && !may_be_event(line)) return leave_out({});
    try {
      builder.line(line);
    } catch (const OtherSchema&) {
      throw;
    } catch (const Error& error) {
      leave_out(error.what());
    }
  };
  const auto too_long = [&](const std::string& why) {
    ++number;
    leave_out(why);
  };
  if (for_each_line(path, take, too_long)) builder.cut_off();
  if (!builder.has_plan())
    throw Error(path.string() + ": nothing can be salvaged: the plan, which lists the rows, is lost");
  salvaged.report = std::move(builder).take_report();
  return salvaged;
}

std::string rewritten_journal(const std::filesystem::path& path) {
  TextOfLines lines;
  Decoder decoder;
  for_each_line(path, explained([&](std::string_view line) { decoder.line(line, lines); }));
  return lines.text;
}

}  // namespace assay
