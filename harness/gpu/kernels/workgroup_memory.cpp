#include "harness/gpu/device/device.h"
#include "harness/gpu/gpu.h"

#include <algorithm>
#include <memory>
#include <thread>

namespace assay::gpu {
namespace {

constexpr std::uint32_t poison_local_size = 64;
constexpr double poison_timeout_s = 60;

/// Enough to run on all cores of a large GPU at once, each with all memory that a workgroup may have, or on
/// all threads of a CPU, some of which begin late.
std::uint32_t workgroups_on(const DeviceInfo& device) {
  static const std::uint32_t threads = std::thread::hardware_concurrency();  // 0: unknown
  if (!device.is_cpu()) return 1024;
  return threads == 0 ? 128 : std::max(32U, 8 * threads);
}

Program poison_program(const DeviceInfo& device) {
  Program program;
  program.dispatches.push_back({.label = "workgroup poison",
                                .shader = "workgroup_poison.comp",
                                .local_size = {poison_local_size, 1, 1},
                                .workgroups = {workgroups_on(device), 1, 1},
                                .constants = {{"words", device.max_shared_bytes / 4}},
                                .push = PushConstants().add(std::int64_t{0}),
                                .bindings = {Resource::tensor(0)}});
  return program;
}

std::vector<Physical> seen_tensors(const DeviceInfo& device) {
  return {{Form{}, DType::I32, {std::int64_t{workgroups_on(device)} * poison_local_size}}};
}

/// Its shaders come from the binary alone: no folder of shaders may replace them.
class WorkgroupPoisoner final : public Device::State::Attachment {
 public:
  explicit WorkgroupPoisoner(Device& device)
      : program_(poison_program(device.info())),
        executable_(device, shaders_, program_, seen_tensors(device.info()), /*guard=*/0),
        workspace_(device, program_, seen_tensors(device.info()), /*guard=*/0) {
    executable_.set_label("workgroup poison");
  }

  void run(Poison poison) {
    const auto mask = static_cast<std::int32_t>(poison.mask());
    executable_.vary(0, program_.dispatches.front().workgroups, PushConstants().add(std::int64_t{mask}));
    executable_.run(workspace_, "workgroup poison", poison_timeout_s);
  }

 private:
  ShaderLibrary shaders_;
  Program program_;
  Executable executable_;
  Workspace workspace_;
};

}  // namespace

void poison_workgroup_memory(Device& device, Poison poison) {
  std::unique_ptr<Device::State::Attachment>& kept = device.state().workgroup_poisoner;
  if (!kept) kept = std::make_unique<WorkgroupPoisoner>(device);
  static_cast<WorkgroupPoisoner&>(*kept).run(poison);
}

}  // namespace assay::gpu
