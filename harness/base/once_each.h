#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>

namespace assay {

/// Lets things be made once each, by whichever thread asks first: who asks for the same one meanwhile waits
/// for it, and other things are made at the same time. Where making fails, who waited makes it again, so that
/// each learns why.
template <class Key>
class OnceEach {
 public:
  /// What `find()` gives once it is true: at once, else after `make()`, which is called without the lock that
  /// all of these share, and `keep(made)`.
  template <class Find, class Make, class Keep>
  auto get(const Key& key, const Find& find, const Make& make, const Keep& keep) {
    if (auto found = wait_for(key, find)) return found;
    const Mark mark(*this, key);
    auto made = make();
    const std::scoped_lock lock(mutex_);  // goes before the mark
    keep(std::move(made));
    return find();
  }

  /// Calls `look` under the lock that `find` and `keep` hold.
  template <class Look>
  auto look(const Look& look) const {
    const std::scoped_lock lock(mutex_);
    return look();
  }

 private:
  /// What is found, or nothing where this thread is to make it.
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

  /// Of a thing that is being made.
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
