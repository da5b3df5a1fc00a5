#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace assay::gpu {

/// True for what a validation layer says of extensions and structures that are newer than itself (Debian 12's
/// of KHR cooperative matrices). That is no misuse: they are used only where the device knows them.
bool layer_is_too_old(std::string_view message);

/// What the validation layer said. Layers may call from any thread.
class MessageLog {
 public:
  /// Counts a message; keeps the newest `kept` different texts.
  void add(std::string text);
  std::int64_t count() const;
  /// Oldest first: of those that were said (again) after the first `after` messages.
  std::vector<std::string> texts(std::int64_t after = 0) const;

  static constexpr std::size_t kept = 100;

 private:
  struct Message {
    std::string text;
    std::int64_t number = 0;  ///< when it was said last: the count then
  };

  mutable std::mutex mutex_;
  std::int64_t count_ = 0;
  std::deque<Message> messages_;
};

}  // namespace assay::gpu
