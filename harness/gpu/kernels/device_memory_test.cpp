#include "harness/gpu/device/device.h"
#include "tests/support/gpu.h"
#include "tests/support/shaders_under_test.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace assay::gpu {
namespace {

using namespace test;

/// Tests with kernels only, and with the host's help. The window is small, so that textures go through it in
/// pieces.
class DeviceMemoryTest : public GpuTest, public ::testing::WithParamInterface<bool> {
 protected:
  DeviceMemory memory{device(), library(), {.window = 256, .kernels_only = GetParam()}};

  static ShaderLibrary& library() {
    static ShaderLibrary shared(shaders_under_test());
    return shared;
  }

  static std::vector<std::byte> ramp(std::size_t count, unsigned seed) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i)
      bytes[i] = static_cast<std::byte>((i * 7 + i / 256 + seed) & 255U);
    return bytes;
  }

  static void write_ramp(Workspace& to, unsigned seed) { to.write(tensor, ramp(to.size(tensor), seed)); }

  static std::vector<std::byte> poisoned(std::size_t count, Poison poison, std::uint64_t first_offset = 0) {
    std::vector<std::byte> bytes(count);
    fill_poison(bytes, poison, first_offset);
    return bytes;
  }

  static constexpr Resource tensor{};
};

constexpr Poison both[] = {Poison::A, Poison::B.of(3)};

std::vector<std::byte> part(const std::vector<std::byte>& all, std::size_t from, std::size_t count) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

TEST_P(DeviceMemoryTest, PoisonsWithTheBytesOfTheHost) {
  for (const std::int64_t count : {1, 2, 3, 64, 129, 100'001}) {
    for (const std::uint32_t guard : {0U, guard_bytes}) {
      for (const Poison poison : both) {
        Workspace one = workspace({}, {words(count)}, guard);
        memory.poison(one, {{{tensor, poison, poison}}});
        EXPECT_TRUE(one.read(tensor) == poisoned(one.size(tensor), poison)) << count << " guard " << guard;
      }
    }
  }
}

// The kernel by itself, in the middle of a buffer: what it writes past the end would else be a guard that is
// poisoned later.
TEST_P(DeviceMemoryTest, PoisonsTheWordsAskedForAndNoOther) {
  if (!GetParam()) GTEST_SKIP() << "the host has no kernel";
  constexpr std::int64_t all = 640;
  const std::vector<Physical> tensors{words(all)};
  for (const std::int64_t first : {3, 4}) {
    for (const std::int64_t position : {5, 6, 64}) {
      for (const std::int64_t count : {1, 2, 131, 132}) {
        const Poison poison = Poison::B.of(3);
        Program program;
        Dispatch& dispatch = program.dispatches.emplace_back(
            Dispatch{.label = "poison", .shader = "poison.comp", .local_size = {64, 1, 1}});
        dispatch.workgroups = {2, 3, 1};  // more than are needed
        dispatch.push.add(first).add(count).add(position);
        dispatch.push.add(static_cast<std::int64_t>(poison.mask() & 0xFFFFFFFFU));
        dispatch.push.add(static_cast<std::int64_t>(poison.mask() >> 32));
        dispatch.bindings = {Resource::tensor(0)};
        Workspace one = workspace(program, tensors, 0);
        write_ramp(one, 5);
        Executable(device(), library(), program, tensors, 0).run(one, "poison", timeout_s);
        std::vector<std::byte> expected = ramp(all * 4, 5);
        const std::vector<std::byte> bytes =
            poisoned(static_cast<std::size_t>(count) * 4, poison, static_cast<std::uint64_t>(position) * 4);
        std::ranges::copy(bytes, expected.begin() + first * 4);
        EXPECT_TRUE(one.read(tensor) == expected) << first << ' ' << position << ' ' << count;
      }
    }
  }
}

TEST_P(DeviceMemoryTest, PoisonsGuardsAndDataEachInItsWay) {
  Workspace one = workspace({}, {words(33)});
  memory.poison(one, {{{tensor, Poison::A, Poison::B}}});
  const std::vector<std::byte> seen = one.read(tensor);
  constexpr std::size_t data = std::size_t{33} * 4, end = guard_bytes + data;
  EXPECT_EQ(part(seen, 0, guard_bytes), poisoned(guard_bytes, Poison::B));
  EXPECT_EQ(part(seen, guard_bytes, data), poisoned(data, Poison::A, guard_bytes));
  EXPECT_EQ(part(seen, end, guard_bytes), poisoned(guard_bytes, Poison::B, end));
}

TEST_P(DeviceMemoryTest, LeavesDataThatAreNotToBePoisoned) {
  Workspace one = workspace({}, {words(33)});
  write_ramp(one, 5);
  memory.poison(one, {{{.resource = tensor, .guards = Poison::B}}});
  const std::vector<std::byte> seen = one.read(tensor);
  EXPECT_EQ(part(seen, 0, guard_bytes), poisoned(guard_bytes, Poison::B));
  constexpr std::size_t data = std::size_t{33} * 4;
  EXPECT_EQ(part(seen, guard_bytes, data), part(ramp(one.size(tensor), 5), guard_bytes, data));
}

TEST_P(DeviceMemoryTest, PoisonsScratchToo) {
  Program program;
  program.scratch.push_back({.name = "s", .dtype = DType::F16, .shape = {5}, .form = {}});
  Workspace one = workspace(program, {words(3), words(4)});
  const Resource scratch = Resource::scratch(0);
  memory.poison(one, {{{Resource::tensor(1), Poison::A, Poison::A}, {scratch, Poison::B, Poison::B}}});
  EXPECT_EQ(one.read(Resource::tensor(1)), poisoned(one.size(Resource::tensor(1)), Poison::A));
  EXPECT_EQ(one.read(scratch), poisoned(one.size(scratch), Poison::B));
}

TEST_P(DeviceMemoryTest, CopiesDataBetweenWorkspacesOfDifferentGuards) {
  for (const std::uint32_t guard : {0U, guard_bytes}) {
    Workspace from = workspace({}, {words(1000)}, guard);
    Workspace to = workspace({}, {words(1000)}, guard_bytes - guard);
    write_ramp(from, 1);
    write_ramp(to, 2);
    memory.copy(from, to, {{tensor}});
    std::vector<std::byte> expected = ramp(to.size(tensor), 2);
    const std::vector<std::byte> data = part(ramp(from.size(tensor), 1), guard, 4000);
    std::copy(data.begin(), data.end(), expected.begin() + (guard_bytes - guard));
    EXPECT_TRUE(to.read(tensor) == expected) << guard;
  }
}

TEST_P(DeviceMemoryTest, TellsWhetherDataAreTheSame) {
  for (const std::uint32_t guard : {0U, guard_bytes}) {
    Workspace a = workspace({}, {words(1003), words(3)}, guard);
    Workspace b = workspace({}, {words(1003), words(3)}, guard_bytes);
    const std::vector<std::byte> bytes = ramp(b.size(tensor), 0);
    a.write(tensor, part(bytes, guard_bytes - guard, 4012 + 2 * guard));
    memory.copy(a, b, {{Resource::tensor(1)}});
    const std::vector<Resource> all = {tensor, Resource::tensor(1)};
    const auto same_but_for = [&](std::size_t byte) {
      std::vector<std::byte> changed = bytes;
      changed[byte] ^= std::byte{1};
      b.write(tensor, changed);
      EXPECT_TRUE(memory.same(a, b, {{Resource::tensor(1)}}));
      return memory.same(a, b, all);
    };
    b.write(tensor, bytes);
    EXPECT_TRUE(memory.same(a, b, all));
    for (const std::size_t byte : {0U, guard_bytes - 1, guard_bytes + 4012U}) {
      EXPECT_TRUE(same_but_for(byte)) << "a guard's byte " << byte;
    }
    for (const std::size_t byte : {0U, 1U, 1023U, 1024U, 2047U, 4000U, 4004U, 4011U}) {
      EXPECT_FALSE(same_but_for(guard_bytes + byte)) << "the data's byte " << byte;
    }
  }
}

TEST_P(DeviceMemoryTest, FindsOneWordOfManyThatDiffers) {
  constexpr std::int64_t count = (3 << 20) + 1;
  Workspace a = workspace({}, {words(count)}, 0);
  Workspace b = workspace({}, {words(count)}, 0);
  write_ramp(a, 0);
  for (const std::int64_t word : {std::int64_t{0}, count / 2, count - 2, count - 1}) {
    std::vector<std::byte> bytes = ramp(a.size(tensor), 0);
    b.write(tensor, bytes);
    EXPECT_TRUE(memory.same(a, b, {{tensor}}));
    bytes[static_cast<std::size_t>(word) * 4 + 2] ^= std::byte{128};
    b.write(tensor, bytes);
    EXPECT_FALSE(memory.same(a, b, {{tensor}})) << word;
  }
}

TEST_P(DeviceMemoryTest, DoesTheSameToTextures) {
  for (const Storage storage : {Storage::Texture3D, Storage::Texture2D}) {
    for (const DType dtype : {DType::I8, DType::F16, DType::F32}) {
      const Physical physical({storage, Layout::WP}, dtype,
                              storage == Storage::Texture3D ? Shape{2, 3, 5, 9} : Shape{9, 75});
      Workspace a = workspace({}, {physical});
      Workspace b = workspace({}, {physical});
      for (const Poison poison : both) {
        memory.poison(a, {{{tensor, poison, Poison::A}}});
        EXPECT_TRUE(a.read(tensor) == poisoned(a.size(tensor), poison)) << name_of(dtype);
      }
      memory.poison(b, {{{tensor, Poison::A, Poison::A}}});
      EXPECT_FALSE(memory.same(a, b, {{tensor}}));
      memory.poison(b, {{{.resource = tensor}}});
      EXPECT_TRUE(b.read(tensor) == poisoned(a.size(tensor), Poison::A)) << "nothing was asked for";
      memory.copy(a, b, {{tensor}});
      EXPECT_TRUE(b.read(tensor) == poisoned(a.size(tensor), both[1]));
      EXPECT_TRUE(memory.same(a, b, {{tensor}}));
      std::vector<std::byte> bytes = b.read(tensor);
      bytes.back() ^= std::byte{1};
      b.write(tensor, bytes);
      EXPECT_FALSE(memory.same(a, b, {{tensor}}));
    }
  }
}

TEST_P(DeviceMemoryTest, CopiesTexturesOfManySlices) {
  if (device().info().max_image_3d < 2049) GTEST_SKIP() << "the device has no such textures";
  const Physical deep({Storage::Texture3D, Layout::WP}, DType::F16, {1, 2049, 1, 8});
  Workspace from = workspace({}, {deep, words(100)}, 0);
  Workspace to = workspace({}, {deep, words(100)}, 0);
  const std::vector<Resource> all{tensor, Resource::tensor(1)};
  for (const Resource resource : all) from.write(resource, ramp(from.size(resource), resource.index));
  memory.copy(from, to, all);
  for (const Resource resource : all) EXPECT_TRUE(to.read(resource) == from.read(resource)) << resource.index;
}

/// A small texture and a large one, and a buffer.
std::vector<Physical> mixed_tensors() {
  const Form texture{Storage::Texture3D, Layout::WP};
  return {{texture, DType::F16, {1, 4, 1, 1}}, {texture, DType::F32, {2, 3, 5, 9}}, words(130)};
}

TEST_P(DeviceMemoryTest, ComparesOneWithManyAtOnce) {
  const std::vector<Resource> all{Resource::tensor(0), Resource::tensor(1), Resource::tensor(2)};
  Workspace first = workspace({}, mixed_tensors(), 0);
  for (const Resource one : all) first.write(one, ramp(first.size(one), 4));
  std::vector<Workspace> others;
  std::vector<const Workspace*> pointers;
  for (int i = 0; i < 4; ++i) others.push_back(workspace({}, mixed_tensors()));
  for (Workspace& other : others) {
    memory.copy(first, other, all);
    pointers.push_back(&other);
  }
  EXPECT_TRUE(memory.same(first, pointers, all));
  EXPECT_TRUE(memory.same(first, std::span<const Workspace* const>{}, all));
  for (const Resource one : all) {
    std::vector<std::byte> bytes = others.back().read(one);
    bytes[bytes.size() / 2] ^= std::byte{1};
    others.back().write(one, bytes);
    EXPECT_FALSE(memory.same(first, pointers, all)) << one.index;
    memory.copy(first, others.back(), all);
    EXPECT_TRUE(memory.same(first, pointers, all)) << "as before";
  }
}

TEST_P(DeviceMemoryTest, ComparesGuardsWhereItIsAsked) {
  Workspace a = workspace({}, {words(4)});
  Workspace b = workspace({}, {words(4)});
  write_ramp(a, 1);
  for (const std::size_t place : {std::size_t{0}, std::size_t{guard_bytes}, b.size(tensor) - 1}) {
    const Workspace* const other = &b;
    write_ramp(b, 1);
    EXPECT_TRUE(memory.same_with_guards(a, {&other, 1}, {{tensor}}));
    std::vector<std::byte> bytes = b.read(tensor);
    bytes[place] ^= std::byte{1};
    b.write(tensor, bytes);
    EXPECT_FALSE(memory.same_with_guards(a, {&other, 1}, {{tensor}})) << place;
    EXPECT_EQ(memory.same(a, b, {{tensor}}), place != guard_bytes) << place;
    EXPECT_EQ(memory.same_guards(a, {&other, 1}, {{tensor}}), place == guard_bytes) << place;
  }
  Workspace without = workspace({}, {words(4)}, 0);
  const Workspace* const other = &without;
  EXPECT_THROW(memory.same_guards(a, {&other, 1}, {{tensor}}), std::logic_error);
  EXPECT_THROW(memory.same_with_guards(a, {&other, 1}, {{tensor}}), std::logic_error);
}

TEST_P(DeviceMemoryTest, RefusesTensorsOfDifferentSizes) {
  Workspace a = workspace({}, {words(4)});
  Workspace b = workspace({}, {words(5)});
  EXPECT_THROW(memory.copy(a, b, {{tensor}}), std::logic_error);
  EXPECT_THROW(memory.same(a, b, {{tensor}}), std::logic_error);
}

/// In the driver's place: counts what the host publishes.
struct CountedFlush {
  static VKAPI_ATTR VkResult VKAPI_CALL flush(VkDevice device, std::uint32_t count,
                                              const VkMappedMemoryRange* ranges) {
    ++calls;
    return drivers(device, count, ranges);
  }
  static inline PFN_vkFlushMappedMemoryRanges drivers = nullptr;
  static inline int calls = 0;
};

/// A flush would publish what the host has of the data beside a guard, which the device may have written.
TEST(DeviceMemoryThatIsNotCoherent, IsPoisonedByKernels) {
  Instance instance;
  const std::size_t index = select_devices(instance.devices(), {}).front();
  VkPhysicalDeviceMemoryProperties& properties = instance.state().physical[index].memory;
  for (VkMemoryType& type : std::span(properties.memoryTypes, properties.memoryTypeCount))
    type.propertyFlags &= ~static_cast<VkMemoryPropertyFlags>(VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  Device device(instance, index);
  ShaderLibrary library(shaders_under_test());
  DeviceMemory memory(device, library);
  Workspace one(device, {}, std::vector<Physical>{words(33)}, guard_bytes);
  const Resource tensor = Resource::tensor(0);
  const std::vector<std::byte> before(one.size(tensor), std::byte{7});
  one.write(tensor, before);
  CountedFlush::drivers =
      std::exchange(device.state().table.vk.vkFlushMappedMemoryRanges, &CountedFlush::flush);
  memory.poison(one, {{{.resource = tensor, .guards = Poison::B}}});
  EXPECT_EQ(CountedFlush::calls, 0);
  std::vector<std::byte> expected(before.size());
  fill_poison(expected, Poison::B);
  std::copy_n(before.begin(), 33 * 4, expected.begin() + guard_bytes);
  EXPECT_TRUE(one.read(tensor) == expected);
}

INSTANTIATE_TEST_SUITE_P(Ways, DeviceMemoryTest, ::testing::Bool(), [](const auto& way) {
  return way.param ? std::string("by_kernels") : std::string("as_it_is_fastest");
});

}  // namespace
}  // namespace assay::gpu
