#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace assay {

/// The grain for parallel_for() where each element costs a few operations; fewer elements are not worth a
/// thread.
inline constexpr std::int64_t cheap_grain = 1 << 15;

/// Runs body(first, last) over [0, count) in contiguous chunks of at least `grain`, on all hardware threads.
/// A single chunk runs on the calling thread. The first exception is rethrown here.
void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body);

/// Limits the number of threads that parallel_for uses in this process from now on; 0: all hardware threads.
void limit_parallel_threads(int most);

/// Marks the current thread as a background thread while the object lives. parallel_for on it uses only the
/// threads that limit_background_threads() allows, as they become free. Other threads are not affected by
/// background work.
class BackgroundThread {
 public:
  BackgroundThread();
  ~BackgroundThread();
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;
};

/// Says that the background thread has work, while the object lives.
class BackgroundWork {
 public:
  BackgroundWork();
  ~BackgroundWork();
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;
};

/// Returns whether this is a background thread or works for one. Safe to call in a signal handler.
bool is_in_background();

/// Limits the number of threads that are busy in the background, as far as parallel_for decides it; 0: the
/// limit of parallel_for. Threads above a new limit stop after their current chunk.
void limit_background_threads(int most);

/// Copies `from` to the start of `to`, which has at least as many bytes; large copies use all hardware
/// threads, as do the next two functions. That also parallelizes the first touch of new memory, which takes
/// longer than the copy.
void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from);
void zero_bytes(std::span<std::byte> to);
/// Returns whether both hold the same bytes; `b` has as many as `a`.
bool equal_bytes(std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace assay
