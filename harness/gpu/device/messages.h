#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace assay::gpu {

/// True for complaints of a validation layer about extensions and structures that are newer than itself
/// (Debian 12's layer about KHR cooperative matrices). This is no misuse: the harness uses them only where
/// the device supports them.
bool layer_is_too_old(std::string_view message);

/// The messages of the validation layer. Thread-safe, since layers may call from any thread.
class MessageLog {
 public:
  /// Counts a message; keeps the newest `kept` distinct texts.
  void add(std::string text);
  std::int64_t count() const;
  /// Distinct texts that came, or came again, after the first `after` messages; oldest first.
  std::vector<std::string> texts(std::int64_t after = 0) const;

  static constexpr std::size_t kept = 100;

 private:
  struct Message {
    std::string text;
    std::int64_t number = 0;  ///< the count when it came last
  };

  mutable std::mutex mutex_;
  std::int64_t count_ = 0;
  std::deque<Message> messages_;
};

}  // namespace assay::gpu
