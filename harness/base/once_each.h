#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>

namespace assay {

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
