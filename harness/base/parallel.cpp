#include "harness/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace assay {
namespace {

constexpr std::int64_t bytes_per_thread = 1 << 20;  // less is not worth a thread

/// A process has one CPU, so its threads are counted in one place.
std::atomic<int>& most_threads() {
  static std::atomic<int> most = 0;
  return most;
}

/// Asked for once: the C library reads a file of the system each time.
std::int64_t hardware_threads() {
  static const std::int64_t threads = std::max(1U, std::thread::hardware_concurrency());
  return threads;
}

std::int64_t chunk_count(std::int64_t count, std::int64_t grain) {
  const std::int64_t limit = most_threads();
  const std::int64_t threads = limit > 0 ? limit : hardware_threads();
  return std::clamp<std::int64_t>(count / std::max<std::int64_t>(grain, 1), 1, threads);
}

/// Starts a thread for `work`, or does it here when the system has no more threads.
template <class Work>
void start(std::vector<std::thread>& threads, const Work& work) {
  try {
    threads.emplace_back(work);
  } catch (const std::system_error&) {
    work();
  }
}

}  // namespace

void limit_parallel_threads(int most) {
  most_threads() = most;
}

void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  const std::int64_t chunks = chunk_count(count, grain);
  if (chunks == 1) return body(0, count);

  const std::int64_t size = count / chunks;
  const std::int64_t longer = count % chunks;  // the first so many chunks have one element more
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(chunks));
  const auto run = [&](std::int64_t chunk) noexcept {
    const std::int64_t first = chunk * size + std::min(chunk, longer);
    try {
      body(first, first + size + (chunk < longer ? 1 : 0));
    } catch (...) {
      errors[static_cast<std::size_t>(chunk)] = std::current_exception();
    }
  };

  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(chunks - 1));
  for (std::int64_t chunk = 1; chunk < chunks; ++chunk) start(threads, [&run, chunk] { run(chunk); });
  run(0);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
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
