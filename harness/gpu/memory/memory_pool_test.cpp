#include "harness/gpu/memory/memory_pool.h"

#include "tests/support/gpu.h"

namespace assay::gpu {
namespace {

using namespace test;

class MemoryPoolTest : public GpuTest {
 protected:
  static constexpr std::uint64_t kib = 1024;

  PooledBlock take(std::uint64_t bytes) { return pool.take(bytes, type, "a test"); }

  std::uint32_t type = tensor_memory_type(device().state().physical.memory, ~0U);
  MemoryPool pool{device().state(), 100 * kib};
};

TEST_F(MemoryPoolTest, GivesAgainWhatCameBack) {
  const PooledBlock first = take(10 * kib);
  PooledBlock second = take(10 * kib);
  EXPECT_NE(first->handle(), second->handle());
  const VkDeviceMemory handle = second->handle();
  EXPECT_EQ(pool.kept_bytes(), 0U);
  second.reset();
  EXPECT_EQ(pool.kept_bytes(), 10 * kib);
  const PooledBlock third = take(8 * kib);
  EXPECT_EQ(third->handle(), handle);
  EXPECT_EQ(third->bytes(), 10 * kib);
  EXPECT_EQ(pool.kept_bytes(), 0U);
}

TEST_F(MemoryPoolTest, TakesTheSmallestThatIsLargeEnoughAndNotMuchLarger) {
  take(12 * kib).reset();
  const PooledBlock larger = take(20 * kib);
  const VkDeviceMemory handle = take(16 * kib)->handle();
  EXPECT_EQ(take(9 * kib)->bytes(), 12 * kib);
  EXPECT_EQ(take(13 * kib)->handle(), handle);
  EXPECT_EQ(take(5 * kib)->bytes(), 5 * kib) << "twice as many and more is for others";
  EXPECT_EQ(take(17 * kib)->bytes(), 17 * kib);
}

TEST_F(MemoryPoolTest, KeepsWhatCameLast) {
  PooledBlock first = take(50 * kib), second = take(40 * kib), third = take(30 * kib),
              large = take(101 * kib);
  first.reset();
  second.reset();
  EXPECT_EQ(pool.kept_bytes(), 90 * kib);
  third.reset();
  EXPECT_EQ(pool.kept_bytes(), 70 * kib) << "the first is freed";
  large.reset();
  EXPECT_EQ(pool.kept_bytes(), 70 * kib) << "more than it keeps";
  pool.clear();
  EXPECT_EQ(pool.kept_bytes(), 0U);
}

TEST_F(MemoryPoolTest, DrawsPlacesThatFit) {
  std::set<std::uint64_t> drawn;
  for (int i = 0; i < 200; ++i) drawn.insert(pool.drawn_offset(300, 64));
  EXPECT_EQ(drawn, (std::set<std::uint64_t>{0, 64, 128, 192, 256}));
  EXPECT_EQ(pool.drawn_offset(63, 64), 0U);
}

// Without validation: the layer would complain about such a large request before the driver refuses it.
TEST(FullMemoryPool, FreesWhatItKeepsBeforeThereIsNoMemory) {
  Instance instance;
  Device device(instance, select_devices(instance.devices(), {}).front());
  const std::uint32_t type = tensor_memory_type(device.state().physical.memory, ~0U);
  MemoryPool& pool = memory_pool_of(device.state());
  constexpr std::uint64_t too_much = std::uint64_t{1} << 60U;
  pool.take(1 << 10, type, "a test").reset();
  EXPECT_GT(pool.kept_bytes(), 0U);
  EXPECT_THROW(pool.take(too_much, type, "a test"), OutOfMemory);
  EXPECT_EQ(pool.kept_bytes(), 0U);
  pool.take(1 << 10, type, "a test").reset();
  EXPECT_THROW(MemoryBlock(device.state(), too_much, type, "what is not of the pool"), OutOfMemory);
  EXPECT_EQ(pool.kept_bytes(), 0U);
}

TEST(FullMemoryPool, KeepsAnEighthOfTheHeapOfItsBlocks) {
  constexpr std::uint64_t kib = 1024;
  Instance instance;
  const std::size_t index = select_devices(instance.devices(), {}).front();
  VkPhysicalDeviceMemoryProperties& memory = instance.state().physical[index].memory;
  const std::uint32_t type = tensor_memory_type(memory, ~0U);
  memory.memoryHeaps[memory.memoryTypes[type].heapIndex].size = 800 * kib;
  Device device(instance, index);
  MemoryPool& pool = memory_pool_of(device.state());
  PooledBlock large = pool.take(101 * kib, type, "a test"), first = pool.take(60 * kib, type, "a test"),
              second = pool.take(50 * kib, type, "a test");
  large.reset();
  EXPECT_EQ(pool.kept_bytes(), 0U);
  first.reset();
  EXPECT_EQ(pool.kept_bytes(), 60 * kib);
  second.reset();
  EXPECT_EQ(pool.kept_bytes(), 50 * kib) << "the first is freed";
}

}  // namespace
}  // namespace assay::gpu
