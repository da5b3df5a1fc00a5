#include "harness/gpu/memory/workspace.h"

#include "harness/gpu/memory/memory.h"
#include "harness/gpu/memory/memory_pool.h"
#include "tests/support/gpu.h"

#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <variant>

namespace assay::gpu {
namespace {

using namespace test;
using ::testing::HasSubstr;

TEST(Placement, PutsBuffersBehindEachOtherAligned) {
  const std::vector<PlacementNeed> needs{{100, 64}, {10, 64}, {7, 1}};
  const PlacementPlan plan = place(needs, 1000);
  ASSERT_EQ(plan.block_bytes, (std::vector<std::uint64_t>{145}));
  EXPECT_EQ(plan.places[0].offset, 0u);
  EXPECT_EQ(plan.places[1].offset, 128u);
  EXPECT_EQ(plan.places[2].offset, 138u);
}

TEST(Placement, StartsANewBlockWhenTheLargestAllocationIsFull) {
  const std::vector<PlacementNeed> needs{{600, 1}, {400, 1}, {1, 1}};
  const PlacementPlan plan = place(needs, 1000);
  EXPECT_EQ(plan.block_bytes, (std::vector<std::uint64_t>{1000, 1}));
  EXPECT_EQ(plan.places[1].block, 0u);
  EXPECT_EQ(plan.places[2].block, 1u);
  EXPECT_EQ(plan.places[2].offset, 0u);
}

TEST(Placement, GivesATooLargeBufferABlockOfItsOwn) {
  const std::vector<PlacementNeed> needs{{1, 1}, {~std::uint64_t{0}, 1}, {1, 1}};
  const PlacementPlan plan = place(needs, 1000);
  EXPECT_EQ(plan.block_bytes, (std::vector<std::uint64_t>{1, ~std::uint64_t{0}, 1}));
}

TEST(Placement, KeepsImagesAndBuffersApart) {
  const std::vector<PlacementNeed> needs{
      {10, 4, false}, {10, 4, false}, {10, 4, true}, {10, 4, true}, {10, 4, false}};
  const PlacementPlan plan = place(needs, 1000, 64);
  std::vector<std::uint64_t> offsets;
  for (const Placement& one : plan.places) {
    offsets.push_back(one.offset);
  }
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{0, 12, 64, 76, 128}));
}

TEST(Placement, OfNothingIsNothing) {
  EXPECT_TRUE(place({}, 1000).block_bytes.empty());
}

std::vector<std::byte> pattern(std::size_t count, unsigned seed) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>((i * 31 + i / 251 + seed) & 255U);
  }
  return bytes;
}

using WorkspaceTest = GpuTest;

TEST_F(WorkspaceTest, HasGuardDataGuardForTensorsAndScratch) {
  Program program;
  program.scratch.push_back({.name = "s", .dtype = DType::F16, .shape = {3}, .form = {}});
  Workspace memory = workspace(program, {words(5), {{}, DType::I8, {5}}});
  EXPECT_EQ(memory.size(Resource::tensor(0)), 20u + 2 * guard_bytes);
  EXPECT_EQ(memory.size(Resource::tensor(1)), 8u + 2 * guard_bytes);
  EXPECT_EQ(memory.size(Resource::scratch(0)), 8u + 2 * guard_bytes);
  EXPECT_GE(memory.memory_bytes(), 36u + 6 * guard_bytes);
}

TEST_F(WorkspaceTest, GivesBackWhatWasWrittenToEachResource) {
  Program program;
  program.scratch.push_back({.name = "s", .dtype = DType::I32, .shape = {77}, .form = {}});
  Workspace memory = workspace(program, {words(1), words(100'000)});
  const std::vector<Resource> all{Resource::tensor(0), Resource::tensor(1), Resource::scratch(0)};
  for (unsigned i = 0; i < all.size(); ++i) {
    memory.write(all[i], pattern(memory.size(all[i]), i));
  }
  for (unsigned i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(memory.read(all[i]) == pattern(memory.size(all[i]), i)) << "resource " << i;
  }
}

TEST_F(WorkspaceTest, SharesWhatAnotherLendsIt) {
  Program program;
  program.scratch.push_back({.name = "s", .dtype = DType::I32, .shape = {77}, .form = {}});
  const std::vector<Physical> tensors{words(5), words(100)};
  Workspace lender(device(), program, tensors, guard_bytes);
  const std::vector<Resource> shared{Resource::tensor(1), Resource::scratch(0)};
  Workspace second(device(), program, tensors, lender, shared);
  EXPECT_LT(second.memory_bytes(), lender.memory_bytes());
  for (const Resource one : shared) {
    second.write(one, pattern(second.size(one), one.index));
    EXPECT_TRUE(lender.read(one) == pattern(lender.size(one), one.index));
  }
  const Resource own = Resource::tensor(0);
  lender.write(own, pattern(lender.size(own), 7));
  second.write(own, pattern(second.size(own), 8));
  EXPECT_TRUE(lender.read(own) == pattern(lender.size(own), 7));
  lender.copy_to({{&second}});
  EXPECT_TRUE(second.read(own) == pattern(lender.size(own), 7));
}

TEST_F(WorkspaceTest, IsCopiedToManyAtOnce) {
  const Resource tensor = Resource::tensor(0);
  Workspace from = workspace({}, {words(100)});
  from.write(tensor, pattern(from.size(tensor), 3));
  std::vector<Workspace> others;
  std::vector<Workspace*> pointers;
  for (int i = 0; i < 5; ++i) others.push_back(workspace({}, {words(100)}));
  for (Workspace& other : others) pointers.push_back(&other);
  from.copy_to(pointers);
  for (const Workspace& other : others) EXPECT_TRUE(other.read(tensor) == from.read(tensor));
  Workspace stranger = workspace({}, {words(100), words(1)});
  EXPECT_THROW(from.copy_to({{&stranger}}), std::logic_error);
  from.copy_to({{&stranger}}, {{tensor}});
  EXPECT_TRUE(stranger.read(tensor) == from.read(tensor)) << "one resource alone";
  Workspace longer = workspace({}, {words(101)});
  EXPECT_THROW(from.copy_to({{&longer}}, {{tensor}}), std::logic_error);
  Workspace without = workspace({}, {words(100)}, 0);
  EXPECT_THROW(from.copy_to({{&without}}, {{tensor}}), std::logic_error) << "its guards are others";
}

TEST_F(WorkspaceTest, SeveralAreAllocatedTogetherAndKeepApart) {
  Program program;
  program.scratch.push_back(
      {.name = "s", .dtype = DType::F32, .shape = {3, 5}, .form = {Storage::Texture3D, Layout::WP}});
  const std::vector<Physical> tensors{words(100), words(3)};
  const Workspace alone(device(), program, tensors, guard_bytes);
  std::vector<Workspace> several = Workspace::several(9, device(), program, tensors, guard_bytes);
  ASSERT_EQ(several.size(), 9U);
  const std::vector<Resource> all{Resource::tensor(0), Resource::tensor(1), Resource::scratch(0)};
  for (unsigned i = 0; i < several.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(several[i].memory_bytes()), static_cast<double>(alone.memory_bytes()),
                256);
    for (const Resource one : all) several[i].write(one, pattern(several[i].size(one), 7 * i + one.index));
  }
  several.erase(several.begin(), several.begin() + 4);  // what they share stays while one of them lives
  for (unsigned i = 0; i < several.size(); ++i) {
    for (const Resource one : all)
      EXPECT_TRUE(several[i].read(one) == pattern(several[i].size(one), 7 * (i + 4) + one.index)) << i;
  }
  EXPECT_TRUE(Workspace::several(0, device(), program, tensors, guard_bytes).empty());
}

TEST_F(WorkspaceTest, RefusesPartsAndUnknownResources) {
  Workspace memory = workspace({}, {words(4)});
  EXPECT_THROW(memory.write(Resource::tensor(0), pattern(16, 0)), std::logic_error);
  EXPECT_THROW(memory.size(Resource::tensor(1)), std::logic_error);
  EXPECT_THROW(memory.read(Resource::scratch(0)), std::logic_error);
}

TEST_F(WorkspaceTest, GivesBackPartsOfBuffers) {
  Workspace memory = workspace({}, {words(100)});
  const Resource tensor = Resource::tensor(0);
  const std::vector<std::byte> all = pattern(memory.size(tensor), 4);
  memory.write(tensor, all);
  std::vector<std::byte> some(400);
  memory.read(tensor, guard_bytes, some);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + guard_bytes));
  EXPECT_THROW(memory.read(tensor, all.size() - 399, some), std::logic_error);
}

TEST_F(WorkspaceTest, MayBeMoved) {
  Workspace a = workspace({}, {words(4)}, 0);
  a.write(Resource::tensor(0), pattern(16, 3));
  Workspace b = workspace({}, {words(8)}, 0);
  b = std::move(a);
  EXPECT_EQ(b.read(Resource::tensor(0)), pattern(16, 3));
}

TEST_F(WorkspaceTest, MoreThanTheDeviceHasIsOutOfMemoryWithSizes) {
  const std::int64_t gib = std::int64_t{1} << 30;
  const auto count = static_cast<std::size_t>(device().info().device_memory_bytes / gib + 2);
  const std::vector<Physical> tensors(count, words(gib / 4));
  try {
    workspace({}, tensors, 0);
    FAIL() << "nothing was thrown";
  } catch (const OutOfMemory& error) {
    EXPECT_THAT(error.what(), HasSubstr("tensor 0 (i32 268435456, buffer/WP): 1.1 GB"));
    EXPECT_THAT(error.what(), HasSubstr("the device's heap has"));
  }
}

TEST_F(WorkspaceTest, ABufferThatNoAllocationCanHoldIsOutOfMemory) {
  const std::int64_t eib = std::int64_t{1} << 40;
  EXPECT_THROW(workspace({}, {words(eib)}), OutOfMemory);
}

TEST_F(WorkspaceTest, MemoryIsGivenBack) {
  memory_pool_of(device().state()).clear();
  const std::uint32_t before = device().state().allocations;
  {
    Workspace memory = workspace({}, {words(4)});
    EXPECT_GT(device().state().allocations, before);
  }
  EXPECT_GT(memory_pool_of(device().state()).kept_bytes(), 0U);
  memory_pool_of(device().state()).clear();
  EXPECT_EQ(device().state().allocations, before);
}

/// An instance of the test's own, whose devices' properties it may change before it opens one.
struct ChangedDevice {
  Instance instance;
  std::size_t index = select_devices(instance.devices(), {}).front();
  PhysicalDevice& physical = instance.state().physical[index];
};

TEST(ChangedWorkspace, WhatFitsTheHeapDoesNotExceedItByWhatIsSpare) {
  ChangedDevice changed;
  const std::vector<Physical> tensors{words(std::int64_t{16} << 20)};
  std::uint64_t needed = 0;
  {
    Device usual(changed.instance, changed.index);
    const Workspace memory(usual, {}, tensors, 0);
    needed = memory.memory_bytes();
    EXPECT_GT(memory.state().blocks.front()->bytes(), needed)
        << "this test needs a workspace with spare bytes";
  }
  VkPhysicalDeviceMemoryProperties& properties = changed.physical.memory;
  const std::uint32_t type = tensor_memory_type(properties, ~0U);
  properties.memoryHeaps[properties.memoryTypes[type].heapIndex].size = needed;
  Device device(changed.instance, changed.index);
  const Workspace memory(device, {}, tensors, 0);
  EXPECT_EQ(memory.state().blocks.front()->bytes(), needed);
}

TEST(ChangedWorkspace, InMemoryThatIsNotCoherentNoTwoResourcesShareAnAtom) {
  ChangedDevice changed;
  constexpr std::uint64_t atom = 4096;
  VkPhysicalDeviceMemoryProperties& properties = changed.physical.memory;
  for (VkMemoryType& type : std::span(properties.memoryTypes, properties.memoryTypeCount))
    type.propertyFlags &= ~static_cast<VkMemoryPropertyFlags>(VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  changed.physical.non_coherent_atom = atom;
  Device device(changed.instance, changed.index);
  const Workspace memory(device, {}, std::vector<Physical>(3, words(5)), 0);
  if ((memory.state().memory_of(Resource::tensor(0)) & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0)
    GTEST_SKIP() << "the host does not see tensors here";
  for (std::uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(std::get<Buffer>(memory.state().at(Resource::tensor(i))).offset % atom, 0U) << i;
}

// Without validation: the layer would complain about such a large request before the driver refuses it.
TEST(MemoryBlock, WhatTheDriverRefusesIsOutOfMemoryWithTheSize) {
  Instance instance;
  Device device(instance, select_devices(instance.devices(), {}).front());
  const std::uint32_t type = tensor_memory_type(device.state().physical.memory, ~0U);
  try {
    const MemoryBlock block(device.state(), std::uint64_t{1} << 60, type, "a test");
    FAIL() << "nothing was thrown";
  } catch (const OutOfMemory& error) {
    EXPECT_THAT(error.what(), HasSubstr("allocating 1152921504.6 GB for a test on '" + device.info().name));
    EXPECT_THAT(error.what(), HasSubstr("VK_ERROR_OUT_OF"));
  }
}

class StagingTest : public GpuTest {
 protected:
  /// A buffer with its own memory, on any type of device.
  struct Target {
    Target(Device::State& device, std::uint64_t bytes)
        : buffer(create_buffer(device, "target", bytes)),
          block(device, requirements(device, buffer).size,
                tensor_memory_type(device.physical.memory, requirements(device, buffer).memoryTypeBits),
                "target") {
      bind(device, buffer, block, 0);
    }
    Buffer buffer;
    MemoryBlock block;
  };
};

TEST_F(StagingTest, MovesWhatIsLargerThanItsBufferInPieces) {
  for (const std::uint64_t bytes : {4ULL, 1000ULL, 1004ULL, 4'000ULL, 4'100ULL}) {
    Target target(device().state(), bytes);
    Staging staging(device().state(), 1000);
    const auto sent = pattern(bytes, 5);
    staging.upload(target.buffer, sent);
    if (target.block.mapped() != nullptr) {
      EXPECT_EQ(std::memcmp(target.block.mapped(), sent.data(), sent.size()), 0) << bytes;
    }
    std::vector<std::byte> received(bytes);
    staging.download(target.buffer, received);
    EXPECT_TRUE(received == sent) << bytes;
  }
}

TEST_F(StagingTest, BringsPartsOfBuffers) {
  Target target(device().state(), 4000);
  Staging staging(device().state(), 1000);
  const auto sent = pattern(4000, 6);
  staging.upload(target.buffer, sent);
  std::vector<std::byte> received(2500);
  staging.download(target.buffer, received, 600);
  EXPECT_TRUE(std::equal(received.begin(), received.end(), sent.begin() + 600));
}

TEST_F(StagingTest, GrowsOnDemandAndIsUsedAgain) {
  Target small(device().state(), 16);
  Target large(device().state(), 5000);
  Staging staging(device().state());
  const std::uint32_t before = device().state().allocations;
  staging.upload(small.buffer, pattern(16, 1));
  staging.upload(large.buffer, pattern(5000, 2));
  staging.upload(small.buffer, pattern(16, 3));
  EXPECT_EQ(device().state().allocations, before + 1);
  std::vector<std::byte> received(5000);
  staging.download(large.buffer, received);
  EXPECT_TRUE(received == pattern(5000, 2));
}

VkPhysicalDeviceMemoryProperties memory_of(const std::vector<VkMemoryPropertyFlags>& types) {
  VkPhysicalDeviceMemoryProperties memory{};
  for (const VkMemoryPropertyFlags flags : types) {
    memory.memoryTypes[memory.memoryTypeCount++].propertyFlags = flags;
  }
  return memory;
}

constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
constexpr VkMemoryPropertyFlags coherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

TEST(MemoryTypes, OnADiscreteDeviceTensorsAreLocalAndStagingIsCached) {
  const auto memory =
      memory_of({visible | coherent, local | visible | coherent, local, visible | coherent | cached});
  EXPECT_EQ(tensor_memory_type(memory, ~0U), 2u);     // not the window, which may be small
  EXPECT_EQ(tensor_memory_type(memory, 0b1011), 1u);  // the window, when nothing else is allowed
  EXPECT_EQ(staging_memory_type(memory, ~0U), 3u);
}

TEST(MemoryTypes, OnAnIntegratedDeviceTensorsAreCachedAndSeenByTheHost) {
  EXPECT_EQ(tensor_memory_type(
                memory_of({local, local | visible | cached, local | visible | cached | coherent}), ~0U),
            2u);
  EXPECT_EQ(tensor_memory_type(memory_of({local, local | visible | cached}), ~0U), 1u);
}

TEST(MemoryTypes, OnUnifiedMemoryWithoutCachedTypesTheHostStagesWithWhatThereIs) {
  const auto memory = memory_of({local | visible | coherent});
  EXPECT_EQ(tensor_memory_type(memory, ~0U), 0u);
  EXPECT_EQ(staging_memory_type(memory, ~0U), 0u);
  EXPECT_EQ(uniform_memory_type(memory, ~0U), 0u);
  // With a type that the host does not see, tensors are there.
  const auto two = memory_of({local | visible | coherent, local});
  EXPECT_EQ(tensor_memory_type(two, ~0U), 1u);
  EXPECT_EQ(staging_memory_type(two, ~0U), 0u);
}

TEST(MemoryTypes, LazyProtectedAndUncachedMemoryIsNeverTaken) {
  const auto memory =
      memory_of({local | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, local | VK_MEMORY_PROPERTY_PROTECTED_BIT,
                 local | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD, visible});
  EXPECT_EQ(tensor_memory_type(memory, ~0U), 3u);
  EXPECT_THROW(tensor_memory_type(memory, 0b0111), Error);
}

}  // namespace

}  // namespace assay::gpu
