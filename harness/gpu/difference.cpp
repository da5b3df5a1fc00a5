#include "harness/gpu/barrier.h"
#include "harness/gpu/bindings.h"
#include "harness/gpu/recording.h"
#include "harness/gpu/submission.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace assay::gpu {
namespace {

constexpr double timeout_s = 60;
constexpr std::uint32_t local_size = 64;

Program program_for(std::uint64_t words) {
  Program program;
  Dispatch dispatch{.label = "difference", .shader = "difference.comp", .local_size = {local_size, 1, 1}};
  dispatch.workgroups = fold_grid(static_cast<std::int64_t>(words), local_size);
  dispatch.push.add(static_cast<std::int64_t>(words));
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1), Resource::tensor(2)};
  program.dispatches.push_back(dispatch);
  return program;
}

Physical one_word() {
  return {Form{}, DType::I32, {1}};
}

}  // namespace

struct Difference::State {
  State(Device& owner, ShaderLibrary& shaders)
      : device(owner.state()), count(owner, Program{}, std::array{one_word()}, 0) {
    const Program program = program_for(1);
    pipelines.push_back(create_pipeline(device, program.dispatches.front(),
                                        std::vector(3, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER),
                                        shaders.compile("difference.comp", {}), 0));
  }

  std::uint32_t words_that_differ(const std::array<Descriptor, 3>& buffers, std::uint64_t words);

  Device::State& device;
  Workspace count;
  std::vector<Pipeline> pipelines;
};

std::uint32_t Difference::State::words_that_differ(const std::array<Descriptor, 3>& buffers,
                                                   std::uint64_t words) {
  const std::array<std::byte, 4> zero{};
  count.write(Resource::tensor(0), zero);
  const Program program = program_for(words);
  const Bindings bindings(device.table, program, pipelines, buffers);
  Submission submission(device, "comparing two answers on the device", "difference");
  const VkCommandBuffer commands = submission.commands();
  barrier(device.table, commands, Scope::Anything, Scope::Compute);
  Recordable{device.table, program, pipelines}.record(commands, bindings, Part::All);
  barrier(device.table, commands, Scope::Compute, Scope::TransferAndHost);
  submission.submit_and_wait(timeout_s);
  std::uint32_t found = 0;
  const std::vector<std::byte> bytes = count.read(Resource::tensor(0));
  std::memcpy(&found, bytes.data(), sizeof(found));
  return found;
}

Difference::Difference(Device& device, ShaderLibrary& shaders)
    : state_(std::make_unique<State>(device, shaders)) {}
Difference::~Difference() = default;

std::optional<std::uint32_t> Difference::words(const Workspace& a, const Workspace& b, Resource resource) {
  const std::uint64_t bytes = a.size(resource);
  if (bytes != b.size(resource)) {
    throw std::logic_error(fmt::format("comparing {} bytes with {} on the device", bytes, b.size(resource)));
  }
  const std::array<Descriptor, 3> buffers = {a.state().descriptor_of(resource),
                                             b.state().descriptor_of(resource),
                                             state_->count.state().descriptor_of(Resource::tensor(0))};
  for (const Descriptor& one : buffers) {
    if (one.type != VK_DESCRIPTOR_TYPE_STORAGE_BUFFER) {
      return std::nullopt;
    }
  }
  return state_->words_that_differ(buffers, bytes / sizeof(std::uint32_t));
}

}  // namespace assay::gpu
