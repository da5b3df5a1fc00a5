#include "harness/base/parallel.h"
#include "harness/gpu/commands/submission.h"
#include "harness/gpu/memory/memory.h"
#include "harness/gpu/program/bindings.h"
#include "harness/gpu/program/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <stdexcept>

namespace assay::gpu {
namespace {

constexpr double job_timeout_s = 60;
constexpr std::uint32_t job_local_size = 64;
constexpr std::uint64_t word_bytes = 4;
constexpr std::int64_t places = 4;  // of an invocation of difference.comp

std::int64_t words_of(std::uint64_t bytes) {
  return static_cast<std::int64_t>(bytes / word_bytes);
}

Physical words(std::uint64_t bytes) {
  return {Form{}, DType::I32, {words_of(bytes)}};
}

/// A shader of ours over so many buffers, with so many push constants.
struct Kernel {
  Kernel(Device::State& device, ShaderLibrary& shaders, const std::string& name, std::size_t buffers,
         int push_constants)
      : dispatch{.label = name, .shader = name + ".comp", .local_size = {job_local_size, 1, 1}} {
    for (int i = 0; i < push_constants; ++i) {
      dispatch.push.add(std::int64_t{0});
    }
    for (std::uint32_t i = 0; i < buffers; ++i) {
      dispatch.bindings.emplace_back(Resource::tensor(i));
    }
    pipelines.push_back(pipelines_of(device).get(dispatch,
                                                 std::vector(buffers, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER),
                                                 shaders.compile(dispatch.shader, {}), /*guard=*/0));
  }

  Dispatch dispatch;
  std::vector<SharedPipeline> pipelines;
};

/// Bytes of a buffer, from its start.
struct Stretch {
  const Buffer* buffer = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

Descriptor descriptor_of(const Stretch& stretch) {
  return {.buffer = {.buffer = stretch.buffer->handle.get(), .offset = 0, .range = VK_WHOLE_SIZE}};
}

const Image* image_of(const Workspace& workspace, Resource resource) {
  return std::get_if<Image>(&workspace.state().at(resource));
}

/// What lies between the guards of a buffer.
Stretch data_of(const Workspace& workspace, Resource resource) {
  const auto& buffer = std::get<Buffer>(workspace.state().at(resource));
  const std::uint64_t guard = workspace.state().guard;
  return {&buffer, guard, buffer.bytes - 2 * guard};
}

/// All of a buffer, guards included.
Stretch all_of(const Workspace& workspace, Resource resource) {
  const auto& buffer = std::get<Buffer>(workspace.state().at(resource));
  return {&buffer, 0, buffer.bytes};
}

Stretch guard_before(const Workspace& workspace, Resource resource) {
  const auto& buffer = std::get<Buffer>(workspace.state().at(resource));
  return {&buffer, 0, workspace.state().guard};
}

Stretch guard_behind(const Workspace& workspace, Resource resource) {
  const auto& buffer = std::get<Buffer>(workspace.state().at(resource));
  const std::uint64_t guard = workspace.state().guard;
  return {&buffer, buffer.bytes - guard, guard};
}

using StretchOf = Stretch (*)(const Workspace&, Resource);

/// A resource in one workspace.
struct Placed {
  const Workspace& workspace;
  Resource resource;

  const Image* image() const { return image_of(workspace, resource); }
  std::uint64_t bytes() const {
    return image() != nullptr ? image()->bytes : data_of(workspace, resource).bytes;
  }
};

void refuse_strangers(const Placed& a, const Placed& b) {
  if (a.bytes() != b.bytes() || (a.image() == nullptr) != (b.image() == nullptr)) {
    throw std::logic_error(fmt::format("comparing or copying {} bytes of one workspace with {} of another",
                                       a.bytes(), b.bytes()));
  }
}

/// A submission of steps, each after the one before. Its recording begins with the first step: until then
/// another job may be submitted, as both use the device's one command buffer.
class Job {
 public:
  Job(Device::State& device, std::string doing) : device_(device), doing_(std::move(doing)) {}

  /// The commands of the next step.
  VkCommandBuffer step() {
    if (!submission_) submission_.emplace(device_, doing_, "memory");
    barrier(device_.table, submission_->commands(), Scope::Anything, Scope::Anything);
    return submission_->commands();
  }

  void run(const Kernel& kernel, std::int64_t invocations, const PushConstants& push,
           std::span<const Descriptor> buffers) {
    Program program;
    program.dispatches.push_back(kernel.dispatch);
    program.dispatches.front().push = push;
    program.dispatches.front().workgroups = fold_grid(invocations, job_local_size);
    const Bindings& bindings = bindings_.emplace_back(device_.table, program, kernel.pipelines, buffers);
    Recordable{device_.table, program, kernel.pipelines}.record(step(), bindings, Part::All);
  }

  void submit() {
    if (submission_) {
      step();
      submission_->submit_and_wait(job_timeout_s);
    }
  }

  const VolkDeviceTable& vk() const { return device_.table.vk; }

 private:
  Device::State& device_;
  std::string doing_;
  std::optional<Submission> submission_;
  std::deque<Bindings> bindings_;
};

/// A part of a texture's bytes and where it lies in the texture.
struct Piece {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  VkBufferImageCopy copy{};  ///< from or to the start of a buffer
};

std::vector<Piece> pieces_of(const Image& image, std::uint64_t largest) {
  std::vector<Piece> pieces;
  for (std::uint64_t done = 0; done < image.bytes;) {
    const Box box = box_at(image.extent, done / image.texel_bytes,
                           std::min(image.bytes - done, largest) / image.texel_bytes);
    const VkBufferImageCopy copy{
        .imageSubresource = whole_layers, .imageOffset = box.offset, .imageExtent = box.extent};
    pieces.push_back({done, box.texels() * image.texel_bytes, copy});
    done += pieces.back().bytes;
  }
  return pieces;
}

}  // namespace

struct DeviceMemory::State {
  State(Device& device, ShaderLibrary& shaders, const Options& chosen)
      : owner(device),
        options(chosen),
        poison(device.state(), shaders, "poison", 1, 5),
        difference(device.state(), shaders, "difference", 3, 3),
        found(device, Program{}, std::array{words(word_bytes)}, 0) {}

  Job job(std::string doing) { return {owner.state(), std::move(doing)}; }
  /// Where the host reaches the bytes as fast as the device does; else null.
  std::byte* mapped(const Stretch& stretch) const;
  /// The same, where the host may also write a part of a buffer. Memory must be coherent for it: a flush
  /// publishes whole atoms, and with them what the host has of their other bytes, which the device may have
  /// written since.
  std::byte* writable(const Stretch& stretch) const;
  /// One of two buffers through which a texture's pieces are seen.
  Stretch window(const Image& image, std::uint32_t index);
  /// Makes them large enough for these textures: none grows later, while a job that uses it is recorded.
  void make_windows(const Workspace& workspace, std::span<const Resource> resources);

  void fill(Job& job, const Stretch& stretch, std::uint64_t first_offset, Poison how);
  void fill_buffer(Job& job, const Workspace& workspace, const Fill& fill);
  void fill_image(const Image& image, Poison how);

  /// What kernels find is in `found`, once the job is done.
  bool same(Job& job, const Stretch& a, const Stretch& b);
  /// Whether the host compares the bytes that go through the two windows.
  bool host_compares(const Stretch& first, const Stretch& second) const {
    return mapped(first) != nullptr && mapped(second) != nullptr;
  }
  void show_piece(Job& job, const Image& image, const Piece& piece, const Stretch& through);
  bool same_images(Job& job, const Image& a, const Image& b);
  bool same_images_by_host(const Image& a, const Image& b);
  bool same_stretch(Job& job, const Workspace& a, const Workspace& b, Resource resource,
                    StretchOf stretch_of);
  bool same(const Workspace& a, std::span<const Workspace* const> others, std::span<const Resource> resources,
            std::span<const StretchOf> stretches);
  bool kernels_found_difference();

  Device& owner;
  Options options;
  Kernel poison;
  Kernel difference;
  Workspace found;  ///< not 0: kernels saw a difference
  bool asked_kernels = false;
  std::optional<Workspace> windows;
};

std::byte* DeviceMemory::State::mapped(const Stretch& stretch) const {
  std::byte* all = options.kernels_only ? nullptr : stretch.buffer->block->mapped_fast();
  return all == nullptr ? nullptr : all + stretch.buffer->offset + stretch.offset;
}

std::byte* DeviceMemory::State::writable(const Stretch& stretch) const {
  const VkMemoryPropertyFlags properties = stretch.buffer->block->properties();
  return properties & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT ? mapped(stretch) : nullptr;
}

Stretch DeviceMemory::State::window(const Image& image, std::uint32_t index) {
  const std::uint64_t wanted = std::min(image.bytes, options.window);
  if (!windows || windows->size(Resource::tensor(0)) < wanted) {
    windows.reset();
    windows.emplace(owner, Program{}, std::array{words(wanted), words(wanted)}, 0);
  }
  return data_of(*windows, Resource::tensor(index));
}

void DeviceMemory::State::make_windows(const Workspace& workspace, std::span<const Resource> resources) {
  for (const Resource resource : resources) {
    if (const Image* image = image_of(workspace, resource)) window(*image, 0);
  }
}

void DeviceMemory::State::fill(Job& job, const Stretch& stretch, std::uint64_t first_offset, Poison how) {
  if (stretch.bytes == 0) {
    return;
  }
  if (std::byte* bytes = writable(stretch)) return fill_poison({bytes, stretch.bytes}, how, first_offset);
  const std::int64_t position = words_of(first_offset);
  const std::int64_t count = words_of(stretch.bytes);
  PushConstants push;
  push.add(words_of(stretch.offset)).add(count).add(position);
  push.add(static_cast<std::int64_t>(how.mask() & 0xFFFFFFFFU))
      .add(static_cast<std::int64_t>(how.mask() >> 32));
  const Descriptor buffer = descriptor_of(stretch);
  job.run(poison, div_up(position + count, std::int64_t{2}) - position / 2, push, {&buffer, 1});
}

void DeviceMemory::State::fill_buffer(Job& job, const Workspace& workspace, const Fill& wanted) {
  const Stretch data = data_of(workspace, wanted.resource);
  if (wanted.data) {
    fill(job, data, data.offset, *wanted.data);
  }
  const std::uint64_t end = data.offset + data.bytes;
  fill(job, {data.buffer, 0, data.offset}, 0, wanted.guards);
  fill(job, {data.buffer, end, data.offset}, end, wanted.guards);
}

void DeviceMemory::State::fill_image(const Image& image, Poison how) {
  const Stretch through = window(image, 0);
  for (const Piece& piece : pieces_of(image, options.window)) {
    Job one = job("poisoning a texture on the device");
    fill(one, {through.buffer, 0, piece.bytes}, piece.offset, how);
    one.vk().vkCmdCopyBufferToImage(one.step(), through.buffer->handle.get(), image.handle.get(),
                                    VK_IMAGE_LAYOUT_GENERAL, 1, &piece.copy);
    one.submit();
  }
}

bool DeviceMemory::State::same(Job& job, const Stretch& a, const Stretch& b) {
  const std::byte* bytes_a = mapped(a);
  const std::byte* bytes_b = mapped(b);
  if (bytes_a != nullptr && bytes_b != nullptr) {
    a.buffer->block->invalidate(a.buffer->offset + a.offset, a.bytes);
    b.buffer->block->invalidate(b.buffer->offset + b.offset, b.bytes);
    return equal_bytes({bytes_a, a.bytes}, {bytes_b, b.bytes});
  }
  asked_kernels = true;
  const std::int64_t count = words_of(a.bytes);
  const std::array<Descriptor, 3> buffers = {descriptor_of(a), descriptor_of(b),
                                             found.state().descriptor_of(Resource::tensor(0))};
  PushConstants push;
  push.add(count).add(words_of(a.offset)).add(words_of(b.offset));
  job.run(difference, div_up(count, places * job_local_size) * job_local_size, push, buffers);
  return true;
}

/// Records the copy of a piece of a texture to the start of a buffer.
void DeviceMemory::State::show_piece(Job& job, const Image& image, const Piece& piece,
                                     const Stretch& through) {
  job.vk().vkCmdCopyImageToBuffer(job.step(), image.handle.get(), VK_IMAGE_LAYOUT_GENERAL,
                                  through.buffer->handle.get(), 1, &piece.copy);
}

bool DeviceMemory::State::same_images(Job& job, const Image& a, const Image& b) {
  Stretch first = window(a, 0);
  Stretch second = window(b, 1);
  if (host_compares(first, second)) return same_images_by_host(a, b);
  for (const Piece& piece : pieces_of(a, options.window)) {
    first.bytes = second.bytes = piece.bytes;
    show_piece(job, a, piece, first);
    show_piece(job, b, piece, second);
    same(job, first, second);
  }
  return true;
}

/// Each piece is submitted by itself: the host looks at it before the next one takes its place. Where the
/// host compares textures, it compares buffers as well (both lie in the same type of memory), so no other job
/// is being recorded.
bool DeviceMemory::State::same_images_by_host(const Image& a, const Image& b) {
  Stretch first = window(a, 0);
  Stretch second = window(b, 1);
  bool all = true;
  for (const Piece& piece : pieces_of(a, options.window)) {
    first.bytes = second.bytes = piece.bytes;
    Job one = job("reading textures on the device");
    show_piece(one, a, piece, first);
    show_piece(one, b, piece, second);
    one.submit();
    all = same(one, first, second) && all;
  }
  return all;
}

bool DeviceMemory::State::same_stretch(Job& job, const Workspace& a, const Workspace& b, Resource resource,
                                       StretchOf stretch_of) {
  refuse_strangers({a, resource}, {b, resource});
  if (const Image* image = image_of(a, resource)) return same_images(job, *image, *image_of(b, resource));
  const Stretch first = stretch_of(a, resource);
  const Stretch second = stretch_of(b, resource);
  if (first.bytes != second.bytes) throw std::logic_error("comparing guards of different sizes");
  return same(job, first, second);
}

bool DeviceMemory::State::same(const Workspace& a, std::span<const Workspace* const> others,
                               std::span<const Resource> resources, std::span<const StretchOf> stretches) {
  make_windows(a, resources);
  bool all = true;
  Job job = this->job("comparing tensors on the device");
  for (const Workspace* b : others) {
    for (const Resource resource : resources) {
      for (const StretchOf stretch_of : stretches)
        all = same_stretch(job, a, *b, resource, stretch_of) && all;
    }
  }
  job.submit();
  return !(asked_kernels && kernels_found_difference()) && all;
}

bool DeviceMemory::State::kernels_found_difference() {
  std::uint32_t differences = 0;
  std::array<std::byte, sizeof(differences)> bytes{};
  found.read(Resource::tensor(0), 0, bytes);
  std::memcpy(&differences, bytes.data(), sizeof(differences));
  found.write(Resource::tensor(0), std::array<std::byte, sizeof(differences)>{});
  asked_kernels = false;
  return differences != 0;
}

DeviceMemory::DeviceMemory(Device& device, ShaderLibrary& shaders) : DeviceMemory(device, shaders, {}) {}
DeviceMemory::DeviceMemory(Device& device, ShaderLibrary& shaders, const Options& options)
    : state_(std::make_unique<State>(device, shaders, options)) {
  state_->kernels_found_difference();  // what was there before is nothing
}
DeviceMemory::~DeviceMemory() = default;

void DeviceMemory::poison(Workspace& workspace, std::span<const Fill> fills) {
  for (const Fill& fill : fills) {
    const Image* image = image_of(workspace, fill.resource);
    if (image != nullptr && fill.data) {
      state_->fill_image(*image, *fill.data);
    }
  }
  Job job = state_->job("poisoning buffers on the device");
  for (const Fill& fill : fills) {
    if (image_of(workspace, fill.resource) == nullptr) {
      state_->fill_buffer(job, workspace, fill);
    }
  }
  job.submit();
}

void DeviceMemory::copy(const Workspace& from, Workspace& to, std::span<const Resource> resources) {
  std::vector<Copy> copies;
  copies.reserve(resources.size());
  for (const Resource resource : resources) copies.push_back({resource, resource});
  copy(from, to, copies);
}

void DeviceMemory::copy(const Workspace& from, Workspace& to, std::span<const Copy> copies) {
  for (const Copy& one : copies) {
    refuse_strangers({from, one.from}, {to, one.to});
    const Image* image = image_of(from, one.from);
    if (image != nullptr && copies_through_buffer(*image))
      staging_of(from.state().device).copy(*image, *image_of(to, one.to));
  }
  Job job = state_->job("copying tensors on the device");
  for (const Copy& one : copies) {
    if (const Image* image = image_of(from, one.from)) {
      if (!copies_through_buffer(*image))
        record_copy(from.state().device.table, job.step(), *image, *image_of(to, one.to));
      continue;
    }
    const Stretch source = data_of(from, one.from);
    const Stretch target = data_of(to, one.to);
    const VkBufferCopy region{.srcOffset = source.offset, .dstOffset = target.offset, .size = source.bytes};
    job.vk().vkCmdCopyBuffer(job.step(), source.buffer->handle.get(), target.buffer->handle.get(), 1,
                             &region);
  }
  job.submit();
}

bool DeviceMemory::same(const Workspace& a, const Workspace& b, std::span<const Resource> resources) {
  const Workspace* const other = &b;
  return same(a, {&other, 1}, resources);
}

bool DeviceMemory::same(const Workspace& a, std::span<const Workspace* const> others,
                        std::span<const Resource> resources) {
  return state_->same(a, others, resources, std::array<StretchOf, 1>{data_of});
}

bool DeviceMemory::same_with_guards(const Workspace& a, std::span<const Workspace* const> others,
                                    std::span<const Resource> resources) {
  return state_->same(a, others, resources, std::array<StretchOf, 1>{all_of});
}

bool DeviceMemory::same_guards(const Workspace& a, std::span<const Workspace* const> others,
                               std::span<const Resource> resources) {
  std::vector<Resource> buffers(resources.begin(), resources.end());
  std::erase_if(buffers, [&](Resource resource) { return image_of(a, resource) != nullptr; });
  return state_->same(a, others, buffers, std::array<StretchOf, 2>{guard_before, guard_behind});
}

}  // namespace assay::gpu
