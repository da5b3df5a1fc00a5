#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace assay {

/// A grain for parallel_for() where each element costs a few operations: fewer are not worth a thread.
inline constexpr std::int64_t cheap_grain = 1 << 15;

/// Runs body(first, last) over [0, count) in contiguous chunks of at least `grain`, on all hardware threads.
/// Serial when there is one chunk. The first exception is rethrown here.
void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body);

/// From now on parallel_for uses so many threads at most in this process; 0: as many as the hardware has.
void limit_parallel_threads(int most);

/// Marks this thread as one that works in the background while it lives: what it runs with parallel_for gets
/// only threads that limit_background_threads() leaves, as they become free. All other threads get theirs
/// whatever goes on in the background.
class BackgroundThread {
 public:
  BackgroundThread();
  ~BackgroundThread();
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;
};

/// A background thread that has something to do, while it lives.
class BackgroundWork {
 public:
  BackgroundWork();
  ~BackgroundWork();
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;
};

/// Whether this is a background thread or works for one. A handler of signals may ask.
bool is_in_background();

/// So many threads are busy in the background at most, as far as parallel_for decides; 0: as many as it uses
/// at most. Those beyond it leave behind their chunk.
void limit_background_threads(int most);

/// Copies `from` to the start of `to`, which has as many bytes, on all hardware threads when they are many,
/// as are the next two. Memory that nobody touched before is got by the threads, too: that takes longer than
/// the copy.
void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from);
void zero_bytes(std::span<std::byte> to);
/// Whether both hold the same bytes; `b` has as many as `a`.
bool equal_bytes(std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace assay
