#include "harness/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <vector>

namespace assay {
namespace {

constexpr std::int64_t bytes_per_thread = 1 << 20;  // fewer are not worth a thread
constexpr std::int64_t chunks_for_helpers = 4;      // chunks per thread, where background helpers come and go

/// Counts threads in one place, because a process has one CPU.
std::atomic<int>& most_threads() {
  static std::atomic<int> most = 0;
  return most;
}

/// Cached, because the C library reads a system file each time.
std::int64_t hardware_threads() {
  static const std::int64_t threads = std::max(1U, std::thread::hardware_concurrency());
  return threads;
}

std::int64_t usual_threads() {
  const std::int64_t limit = most_threads();
  return limit > 0 ? limit : hardware_threads();
}

constexpr int lowest_priority = 19;

/// State of all background threads. A process has it once, because it has one CPU.
struct Background {
  std::atomic<int> most = 0;
  std::atomic<int> busy = 0;
};

Background& background() {
  static Background one;
  return one;
}

bool& in_background() {
  thread_local bool is = false;
  return is;
}

std::int64_t most_in_background() {
  const std::int64_t most = background().most;
  return most > 0 ? most : usual_threads();
}

/// Reserves a place for one more busy background thread, if one is free.
bool take_background_place() {
  std::atomic<int>& busy = background().busy;
  int now = busy;
  while (now < most_in_background()) {
    if (busy.compare_exchange_weak(now, now + 1)) return true;
  }
  return false;
}

std::int64_t chunk_count(std::int64_t count, std::int64_t grain, std::int64_t chunks_per_thread) {
  return std::clamp<std::int64_t>(count / std::max<std::int64_t>(grain, 1), 1,
                                  chunks_per_thread * usual_threads());
}

/// Runs `work` on a new thread, or on this one if the system has no more threads.
template <class Work>
void start(std::vector<std::thread>& threads, const Work& work) {
  try {
    threads.emplace_back(work);
  } catch (const std::system_error&) {
    work();
  }
}

/// One loop, whose chunks are taken in order by whichever thread is free.
class Loop {
 public:
  using Body = std::function<void(std::int64_t, std::int64_t)>;

  Loop(std::int64_t count, std::int64_t chunks, const Body& body)
      : size_(count / chunks),
        longer_(count % chunks),
        body_(body),
        errors_(static_cast<std::size_t>(chunks)) {}

  /// Runs the next chunk. False if none is left.
  bool run_next() noexcept {
    const std::int64_t chunk = next_++;
    if (chunk >= std::ssize(errors_)) return false;
    const std::int64_t first = chunk * size_ + std::min(chunk, longer_);
    try {
      body_(first, first + size_ + (chunk < longer_ ? 1 : 0));
    } catch (...) {
      errors_[static_cast<std::size_t>(chunk)] = std::current_exception();
    }
    return true;
  }
  /// Returns the number of chunks that no thread has taken yet.
  std::int64_t left() const { return std::max<std::int64_t>(0, std::ssize(errors_) - next_); }

  void rethrow_first() const {
    for (const std::exception_ptr& error : errors_) {
      if (error) std::rethrow_exception(error);
    }
  }

 private:
  std::int64_t size_;
  std::int64_t longer_;  ///< number of chunks, at the start, that have one more element
  const Body& body_;
  std::vector<std::exception_ptr> errors_;
  std::atomic<std::int64_t> next_ = 0;
};

void join_all(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads) thread.join();
}

void run_in_foreground(Loop& loop) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(loop.left()));
  for (std::int64_t more = loop.left() - 1; more > 0; --more) {
    start(threads, [&loop] {
      while (loop.run_next()) {
      }
    });
  }
  while (loop.run_next()) {
  }
  join_all(threads);
}

/// Requires that a place has been reserved for this helper.
void help_in_background(Loop& loop) {
  in_background() = true;
  while (loop.run_next() && background().busy <= most_in_background()) {
  }
  --background().busy;
  in_background() = false;  // if the system had no thread, this still runs on the caller's
}

/// Starts helpers as places become free.
void run_in_background(Loop& loop) {
  std::vector<std::thread> threads;
  const auto most = static_cast<std::size_t>(loop.left() - 1);
  threads.reserve(most);
  do {
    while (loop.left() > 1 && threads.size() < most && take_background_place())
      start(threads, [&loop] { help_in_background(loop); });
    in_background() = true;
  } while (loop.run_next());
  join_all(threads);
}

}  // namespace

void limit_parallel_threads(int most) {
  most_threads() = most;
}

BackgroundThread::BackgroundThread() {
  in_background() = true;
  // Linux keeps a priority for each thread, and 0 is the calling one. Where it fails, all are equal, as
  // before.
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, lowest_priority));
}

BackgroundThread::~BackgroundThread() {
  in_background() = false;
}

BackgroundWork::BackgroundWork() {
  ++background().busy;
}

BackgroundWork::~BackgroundWork() {
  --background().busy;
}

bool is_in_background() {
  return in_background();
}

void limit_background_threads(int most) {
  background().most = most;
}

void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  const std::int64_t chunks = chunk_count(count, grain, is_in_background() ? chunks_for_helpers : 1);
  if (chunks == 1) return body(0, count);
  Loop loop(count, chunks, body);
  if (is_in_background()) {
    run_in_background(loop);
  } else {
    run_in_foreground(loop);
  }
  loop.rethrow_first();
}

void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from) {
  parallel_for(std::ssize(from), bytes_per_thread, [&](std::int64_t first, std::int64_t last) {
    std::memcpy(to.data() + first, from.data() + first, static_cast<std::size_t>(last - first));
  });
}

void zero_bytes(std::span<std::byte> to) {
  parallel_for(std::ssize(to), bytes_per_thread, [&](std::int64_t first, std::int64_t last) {
    std::memset(to.data() + first, 0, static_cast<std::size_t>(last - first));
  });
}

bool equal_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::atomic<bool> equal = true;
  parallel_for(std::ssize(a), bytes_per_thread, [&](std::int64_t first, std::int64_t last) {
    if (std::memcmp(a.data() + first, b.data() + first, static_cast<std::size_t>(last - first)) != 0) {
      equal = false;
    }
  });
  return equal;
}

}  // namespace assay
