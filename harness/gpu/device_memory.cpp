#include "harness/gpu/barrier.h"
#include "harness/gpu/bindings.h"
#include "harness/gpu/recording.h"
#include "harness/gpu/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <stdexcept>

namespace assay::gpu {
namespace {

constexpr double timeout_s = 60;
constexpr std::uint32_t local_size = 64;
constexpr std::uint64_t word_bytes = 4;
constexpr VkImageSubresourceLayers whole_layers{
    .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .mipLevel = 0, .baseArrayLayer = 0, .layerCount = 1};

std::int64_t words_of(std::uint64_t bytes) {
  return static_cast<std::int64_t>(bytes / word_bytes);
}

/// A shader of ours over so many buffers, with so many push constants.
struct Kernel {
  Kernel(Device::State& device, ShaderLibrary& shaders, const std::string& name, std::size_t buffers,
         int push_constants)
      : dispatch{.label = name, .shader = name + ".comp", .local_size = {local_size, 1, 1}} {
    for (int i = 0; i < push_constants; ++i) {
      dispatch.push.add(std::int64_t{0});
    }
    for (std::uint32_t i = 0; i < buffers; ++i) {
      dispatch.bindings.push_back(Resource::tensor(i));
    }
    pipelines.push_back(create_pipeline(device, dispatch,
                                        std::vector(buffers, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER),
                                        shaders.compile(dispatch.shader, {}), 0));
  }

  Dispatch dispatch;
  std::vector<Pipeline> pipelines;
};

/// The data of a resource within its allocation, in bytes.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

const Image* image_of(const Workspace& workspace, Resource resource) {
  return std::get_if<Image>(&workspace.state().at(resource));
}

Extent data_of(const Workspace& workspace, Resource resource) {
  const std::uint64_t bytes = workspace.size(resource);
  if (image_of(workspace, resource) != nullptr) {
    return {0, bytes};
  }
  const std::uint64_t guard = workspace.state().guard;
  return {guard, bytes - 2 * guard};
}

std::uint64_t shared_bytes(const Workspace& a, const Workspace& b, Resource resource) {
  const std::uint64_t bytes = data_of(a, resource).bytes;
  if (bytes != data_of(b, resource).bytes) {
    throw std::logic_error(fmt::format("{} bytes of one workspace were to be held against {} of another",
                                       bytes, data_of(b, resource).bytes));
  }
  return bytes;
}

/// A submission of steps, each behind the one before.
class Job {
 public:
  Job(Device::State& device, std::string doing)
      : table_(device.table), submission_(device, std::move(doing), "memory") {}

  /// The commands of the next step.
  VkCommandBuffer step() {
    barrier(table_, submission_.commands(), Scope::Anything, Scope::Anything);
    return submission_.commands();
  }

  void run(const Kernel& kernel, std::int64_t invocations, const PushConstants& push,
           std::span<const Descriptor> buffers) {
    Program program;
    program.dispatches.push_back(kernel.dispatch);
    program.dispatches.front().push = push;
    program.dispatches.front().workgroups = fold_grid(invocations, local_size);
    const Bindings& bindings = bindings_.emplace_back(table_, program, kernel.pipelines, buffers);
    Recordable{table_, program, kernel.pipelines}.record(step(), bindings, Part::All);
  }

  void submit() {
    step();
    submission_.submit_and_wait(timeout_s);
  }

  const DeviceTable& table() const { return table_; }

 private:
  const DeviceTable& table_;
  Submission submission_;
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

VkBuffer buffer_of(const Workspace& workspace, Resource resource) {
  return std::get<Buffer>(workspace.state().at(resource)).handle.get();
}

void read_piece(Job& job, const Image& image, const Piece& piece, VkBuffer into) {
  job.table().vk.vkCmdCopyImageToBuffer(job.step(), image.handle.get(), VK_IMAGE_LAYOUT_GENERAL, into, 1,
                                        &piece.copy);
}

void write_piece(Job& job, VkBuffer from, const Image& image, const Piece& piece) {
  job.table().vk.vkCmdCopyBufferToImage(job.step(), from, image.handle.get(), VK_IMAGE_LAYOUT_GENERAL, 1,
                                        &piece.copy);
}

Physical words(std::uint64_t bytes) {
  return {Form{}, DType::I32, {words_of(bytes)}};
}

}  // namespace

struct DeviceMemory::State {
  State(Device& device, ShaderLibrary& shaders, std::uint64_t window_bytes)
      : owner(device),
        window(window_bytes),
        poison(device.state(), shaders, "poison", 1, 4),
        difference(device.state(), shaders, "difference", 3, 3),
        count(device, Program{}, std::array{words(word_bytes)}, 0) {}

  /// Two buffers, tensors 0 and 1, through which kernels see the textures among these resources. Before
  /// anything is recorded: those of before may go.
  void open_windows(const Workspace& workspace, Resource resource);

  void fill(Job& job, const Workspace& workspace, const Fill& fill);
  void fill_words(Job& job, const Descriptor& buffer, Extent part, std::uint64_t first_offset, Poison how);
  void fill_image(Job& job, const Image& image, Poison how);

  void compare(Job& job, const Workspace& a, const Workspace& b, Resource resource);
  void compare_images(Job& job, const Image& a, const Image& b);
  void compare_words(Job& job, std::int64_t words, const Descriptor& a, std::uint64_t offset_a,
                     const Descriptor& b, std::uint64_t offset_b);

  Device& owner;
  std::uint64_t window;
  Kernel poison;
  Kernel difference;
  Workspace count;  ///< of words that differ
  std::optional<Workspace> windows;
};

void DeviceMemory::State::open_windows(const Workspace& workspace, Resource resource) {
  const Image* image = image_of(workspace, resource);
  const std::uint64_t wanted = image == nullptr ? 0 : std::min(image->bytes, window);
  if (wanted > 0 && (!windows || windows->size(Resource::tensor(0)) < wanted)) {
    windows.reset();
    windows.emplace(owner, Program{}, std::array{words(wanted), words(wanted)}, 0);
  }
}

void DeviceMemory::State::fill_words(Job& job, const Descriptor& buffer, Extent part,
                                     std::uint64_t first_offset, Poison how) {
  if (part.bytes == 0) {
    return;
  }
  const std::int64_t position = words_of(first_offset);
  const std::int64_t count_of_words = words_of(part.bytes);
  const std::int64_t pairs = div_up(position + count_of_words, std::int64_t{2}) - position / 2;
  PushConstants push;
  push.add(words_of(part.offset)).add(count_of_words).add(position);
  push.add(std::int64_t{how == Poison::A ? 0 : -1});
  job.run(poison, pairs, push, {&buffer, 1});
}

void DeviceMemory::State::fill_image(Job& job, const Image& image, Poison how) {
  const Descriptor buffer = windows->state().descriptor_of(Resource::tensor(0));
  for (const Piece& piece : pieces_of(image, window)) {
    fill_words(job, buffer, {0, piece.bytes}, piece.offset, how);
    write_piece(job, buffer.buffer.buffer, image, piece);
  }
}

void DeviceMemory::State::fill(Job& job, const Workspace& workspace, const Fill& fill) {
  if (const Image* image = image_of(workspace, fill.resource)) {
    if (fill.data) {
      fill_image(job, *image, *fill.data);
    }
    return;
  }
  const Extent data = data_of(workspace, fill.resource);
  const std::uint64_t end = data.offset + data.bytes;
  const Descriptor buffer = workspace.state().descriptor_of(fill.resource);
  const auto fill_part = [&](Extent part, Poison how) { fill_words(job, buffer, part, part.offset, how); };
  if (fill.data) {
    fill_part(data, *fill.data);
  }
  fill_part({0, data.offset}, fill.guards);
  fill_part({end, data.offset}, fill.guards);
}

void DeviceMemory::State::compare_words(Job& job, std::int64_t words, const Descriptor& a,
                                        std::uint64_t offset_a, const Descriptor& b, std::uint64_t offset_b) {
  const std::array<Descriptor, 3> buffers = {a, b, count.state().descriptor_of(Resource::tensor(0))};
  PushConstants push;
  push.add(words).add(words_of(offset_a)).add(words_of(offset_b));
  job.run(difference, words, push, buffers);
}

void DeviceMemory::State::compare_images(Job& job, const Image& a, const Image& b) {
  const Descriptor left = windows->state().descriptor_of(Resource::tensor(0));
  const Descriptor right = windows->state().descriptor_of(Resource::tensor(1));
  for (const Piece& piece : pieces_of(a, window)) {
    read_piece(job, a, piece, left.buffer.buffer);
    read_piece(job, b, piece, right.buffer.buffer);
    compare_words(job, words_of(piece.bytes), left, 0, right, 0);
  }
}

void DeviceMemory::State::compare(Job& job, const Workspace& a, const Workspace& b, Resource resource) {
  const std::uint64_t bytes = shared_bytes(a, b, resource);
  if (const Image* image = image_of(a, resource)) {
    return compare_images(job, *image, *image_of(b, resource));
  }
  compare_words(job, words_of(bytes), a.state().descriptor_of(resource), data_of(a, resource).offset,
                b.state().descriptor_of(resource), data_of(b, resource).offset);
}

DeviceMemory::DeviceMemory(Device& device, ShaderLibrary& shaders, std::uint64_t window)
    : state_(std::make_unique<State>(device, shaders, window)) {}
DeviceMemory::~DeviceMemory() = default;

void DeviceMemory::poison(Workspace& workspace, std::span<const Fill> fills) {
  for (const Fill& fill : fills) {
    state_->open_windows(workspace, fill.resource);
  }
  Job job(state_->owner.state(), "poisoning a workspace on the device");
  for (const Fill& fill : fills) {
    state_->fill(job, workspace, fill);
  }
  job.submit();
}

void DeviceMemory::copy(const Workspace& from, Workspace& to, std::span<const Resource> resources) {
  Job job(state_->owner.state(), "copying tensors on the device");
  for (const Resource resource : resources) {
    const std::uint64_t bytes = shared_bytes(from, to, resource);
    if (const Image* image = image_of(from, resource)) {
      const VkImageCopy region{
          .srcSubresource = whole_layers, .dstSubresource = whole_layers, .extent = image->extent};
      job.table().vk.vkCmdCopyImage(job.step(), image->handle.get(), VK_IMAGE_LAYOUT_GENERAL,
                                    image_of(to, resource)->handle.get(), VK_IMAGE_LAYOUT_GENERAL, 1,
                                    &region);
      continue;
    }
    const VkBufferCopy region{.srcOffset = data_of(from, resource).offset,
                              .dstOffset = data_of(to, resource).offset,
                              .size = bytes};
    job.table().vk.vkCmdCopyBuffer(job.step(), buffer_of(from, resource), buffer_of(to, resource), 1,
                                   &region);
  }
  job.submit();
}

std::uint32_t DeviceMemory::differences(const Workspace& a, const Workspace& b,
                                        std::span<const Resource> resources) {
  for (const Resource resource : resources) {
    state_->open_windows(a, resource);
  }
  const Resource counter = Resource::tensor(0);
  Job job(state_->owner.state(), "comparing tensors on the device");
  job.table().vk.vkCmdFillBuffer(job.step(), buffer_of(state_->count, counter), 0, VK_WHOLE_SIZE, 0);
  for (const Resource resource : resources) {
    state_->compare(job, a, b, resource);
  }
  job.submit();
  std::uint32_t found = 0;
  std::array<std::byte, sizeof(found)> bytes{};
  state_->count.read(counter, 0, bytes);
  std::memcpy(&found, bytes.data(), sizeof(found));
  return found;
}

}  // namespace assay::gpu
