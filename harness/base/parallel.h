#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <utility>

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
/// background work: the thread, and those that it starts, have the system's lowest priority until they end.
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

/// Lets things be made once each, by the thread that asks first. Threads that ask for the same thing
/// meanwhile wait for it; different things are made concurrently. If making fails, each waiting thread makes
/// the thing again itself, so that it gets the error too.
template <class Key>
class OnceEach {
 public:
  /// Returns what `find()` finds. If it finds nothing, calls `keep(make())` first. `make` is called without
  /// the lock that `find` and `keep` share.
  template <class Find, class Make, class Keep>
  auto get(const Key& key, const Find& find, const Make& make, const Keep& keep) {
    if (auto found = wait_for(key, find)) return found;
    const Mark mark(*this, key);
    auto made = make();
    const std::scoped_lock lock(mutex_);  // is released before the mark
    keep(std::move(made));
    return find();
  }

  /// Calls `look` under the same lock as `find` and `keep`.
  template <class Look>
  auto look(const Look& look) const {
    const std::scoped_lock lock(mutex_);
    return look();
  }

 private:
  /// Returns what `find` finds, or nothing when this thread must make it.
  template <class Find>
  auto wait_for(const Key& key, const Find& find) {
    std::unique_lock lock(mutex_);
    auto found = find();
    while (!found && !making_.insert(key).second) {
      made_.wait(lock);
      found = find();
    }
    return found;
  }

  /// Marks a thing as being made.
  class Mark {
   public:
    Mark(OnceEach& owner, const Key& key) : owner_(owner), key_(key) {}
    ~Mark() {
      {
        const std::scoped_lock lock(owner_.mutex_);
        owner_.making_.erase(key_);
      }
      owner_.made_.notify_all();
    }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    OnceEach& owner_;
    const Key& key_;
  };

  mutable std::mutex mutex_;
  std::condition_variable made_;
  std::set<Key> making_;
};

}  // namespace assay
