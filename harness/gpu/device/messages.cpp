#include "harness/gpu/device/messages.h"

#include <algorithm>

namespace assay::gpu {

bool layer_is_too_old(std::string_view message) {
  const auto has = [message](std::string_view part) { return message.find(part) != std::string_view::npos; };
  // The layer's validator of SPIR-V may be older than VK_KHR_cooperative_matrix, whose capability it names.
  return (has("SPIR-V module not valid") && has("Invalid capability operand: 6022")) ||
         has("includes a structure with unknown VkStructureType") ||
         (has("Device Extension ") && has(" is not supported by this layer"));
}

void MessageLog::add(std::string text) {
  const std::lock_guard lock(mutex_);
  ++count_;
  const auto same = std::ranges::find(messages_, text, &Message::text);
  if (same != messages_.end()) {  // repeated: it counts as the newest
    messages_.erase(same);
  }
  messages_.push_back({std::move(text), count_});
  if (messages_.size() > kept) {
    messages_.pop_front();
  }
}

std::int64_t MessageLog::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::vector<std::string> MessageLog::texts(std::int64_t after) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  for (const Message& message : messages_) {
    if (message.number > after) texts.push_back(message.text);
  }
  return texts;
}

}  // namespace assay::gpu
