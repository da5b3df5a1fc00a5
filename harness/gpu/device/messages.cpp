#include "harness/gpu/device/messages.h"

#include <algorithm>

namespace assay::gpu {

bool layer_is_too_old(std::string_view message) {
  const auto has = [message](std::string_view part) { return message.find(part) != std::string_view::npos; };
  return has("includes a structure with unknown VkStructureType") ||
         (has("Device Extension ") && has(" is not supported by this layer"));
}

void MessageLog::add(std::string text) {
  const std::lock_guard lock(mutex_);
  ++count_;
  const auto same = std::find(texts_.begin(), texts_.end(), text);
  if (same != texts_.end()) {  // said again: it counts as the newest
    texts_.erase(same);
  }
  texts_.push_back(std::move(text));
  if (texts_.size() > kept) {
    texts_.pop_front();
  }
}

std::int64_t MessageLog::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::vector<std::string> MessageLog::texts() const {
  const std::lock_guard lock(mutex_);
  return {texts_.begin(), texts_.end()};
}

}  // namespace assay::gpu
