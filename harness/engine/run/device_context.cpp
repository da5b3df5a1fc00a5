#include "harness/engine/run/device_context.h"

#include <utility>

namespace assay {
namespace {

/// Rows may keep their originals in 1/4 of the device's memory.
constexpr std::uint64_t kept_share = 4;

}  // namespace

DeviceContext::DeviceContext(gpu::Device& owner, gpu::ShaderLibrary& own_shaders, const Expectations& rules,
                             const DeviceRunOptions& asked)
    : device(owner),
      options(asked),
      kept{.limit = owner.info().device_memory_bytes / kept_share},
      shaders_(own_shaders),
      expectations_(rules) {}

const Expectation* DeviceContext::skip_of(const RowInfo& row) const {
  const Expectation* rule = expectations_.find(device.info().name, words_of(row));
  return rule != nullptr && rule->kind == Expectation::Kind::Skip ? rule : nullptr;
}

gpu::ShaderLibrary& DeviceContext::shaders_of(const PlannedRow& row) const {
  return row.versus ? *options.versus->library : shaders_;
}

TimingTools& DeviceContext::tools() {
  if (options.tools != nullptr) return *options.tools;
  if (!own_tools_) own_tools_ = std::make_unique<TimingTools>(device, shaders_);
  return *own_tools_;
}

const Ceilings& DeviceContext::ceilings() const {
  return options.tools != nullptr ? options.tools->ceilings : options.ceilings;
}

gpu::DeviceMemory& DeviceContext::memory() {
  if (!memory_) memory_ = std::make_unique<gpu::DeviceMemory>(device, shaders_);
  return *memory_;
}

LayerMessages DeviceContext::take_messages() {
  const std::int64_t now = options.validation_messages ? options.validation_messages() : 0;
  const std::int64_t before = std::exchange(messages_before_, now);
  LayerMessages messages{.count = now - before};
  if (messages.count > 0 && options.validation_texts) messages.texts = options.validation_texts(before);
  return messages;
}

}  // namespace assay
