#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace assay::gpu {

/// What the validation layer said. Layers may call from any thread.
class MessageLog {
 public:
  /// Counts a message; keeps the newest `kept` different texts.
  void add(std::string text);
  std::int64_t count() const;
  std::vector<std::string> texts() const;  ///< oldest first

  static constexpr std::size_t kept = 100;

 private:
  mutable std::mutex mutex_;
  std::int64_t count_ = 0;
  std::deque<std::string> texts_;
};

}  // namespace assay::gpu
