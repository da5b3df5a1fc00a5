#include "harness/gpu/commands/submission.h"

#include "harness/gpu/kernels/clock_probe.h"
#include "tests/support/error_text.h"
#include "tests/support/gpu.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace assay::gpu {
namespace {

using namespace test;

TEST(TicksToNs, MultipliesByADoublePeriod) {
  EXPECT_DOUBLE_EQ(ticks_to_ns(1000, 1100, 64, 52.08), 5208.0);
  EXPECT_DOUBLE_EQ(ticks_to_ns(7, 7, 64, 52.08), 0.0);
}

TEST(TicksToNs, SurvivesTheCountersWrap) {
  EXPECT_DOUBLE_EQ(ticks_to_ns((1ULL << 36) - 10, 15, 36, 2.0), 50.0);
  EXPECT_DOUBLE_EQ(ticks_to_ns((1ULL << 40) - 1, 0, 40, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(ticks_to_ns(~0ULL, 4, 64, 1.0), 5.0);
}

TEST(TicksToNs, IgnoresBitsThatAreNotValid) {
  EXPECT_DOUBLE_EQ(ticks_to_ns((0xABCULL << 36) | 5, (0x123ULL << 36) | 9, 36, 1.0), 4.0);
  EXPECT_DOUBLE_EQ(ticks_to_ns(0, 1ULL << 40, 40, 1.0), 0.0);
  EXPECT_DOUBLE_EQ(ticks_to_ns(3, 9, 0, 1.0), 0.0);
}

using TimerTest = GpuTest;

TEST_F(TimerTest, StampsThatAreDistrustedAreNotUsed) {
  Device own(instance(), select_devices(instance().devices(), {}).front());
  const bool has_them = own.info().timestamp_valid_bits > 0;
  EXPECT_EQ(Stamps::available(own.state()), has_them);
  own.distrust_timestamps();
  EXPECT_FALSE(Stamps::available(own.state()));
  EXPECT_EQ(Stamps::available(device().state()), has_them) << "another device's are trusted as before";
}

TEST_F(TimerTest, WithoutTrustTimesAreTheCpusAlone) {
  Device own(instance(), select_devices(instance().devices(), {}).front());
  own.distrust_timestamps();
  ShaderLibrary library;
  const Program program = probe_program(own.info(), 1);
  const std::vector<Physical> tensors{words(probe_words(own.info()))};
  Executable probe(own, library, program, tensors, 0);
  Workspace memory(own, program, tensors, 0);
  const Timing timing = probe.time(memory, {}, timeout_s);
  EXPECT_FALSE(timing.gpu_ns.has_value());
  EXPECT_GT(timing.wall_ns, 0);
  EXPECT_TRUE(probe.dispatch_ns(memory, timeout_s).empty());
}

/// In the driver's place: the first wait is over at once, as for a machine that is suspended meanwhile.
struct SuspendedWait {
  static VkResult wait(VkDevice device, std::uint32_t count, const VkFence* fences, VkBool32 all,
                       std::uint64_t timeout_ns) {
    if (std::exchange(is_suspended, false)) return VK_TIMEOUT;
    return drivers(device, count, fences, all, timeout_ns);
  }
  static inline PFN_vkWaitForFences drivers = nullptr;
  static inline bool is_suspended = true;
};

TEST_F(TimerTest, AMachineThatWasSuspendedIsNoTimeout) {
  Device own(instance(), select_devices(instance().devices(), {}).front());
  SuspendedWait::drivers = std::exchange(own.state().table.vk.vkWaitForFences, &SuspendedWait::wait);
  Submission submission(own.state(), "being suspended");
  EXPECT_EQ(error_of([&] { submission.submit_and_wait(timeout_s); }), "");
  EXPECT_FALSE(SuspendedWait::is_suspended) << "the submission did not wait for its fence";
}

/// In the driver's place: waits until the GPU is done, and says that the wait failed.
struct FailedWait {
  static VkResult wait(VkDevice device, std::uint32_t count, const VkFence* fences, VkBool32 all,
                       std::uint64_t timeout_ns) {
    const VkResult real = drivers(device, count, fences, all, timeout_ns);
    return real == VK_SUCCESS ? result : real;
  }
  static inline PFN_vkWaitForFences drivers = nullptr;
  static inline VkResult result = VK_SUCCESS;
};

/// Exits with 1 if the device counts as lost, plus 2 if it is leaked. In a process of its own: one that leaks
/// a device leaves without its exit handlers.
[[noreturn]] void fail_a_wait_and_leave(VkResult result) {
  Instance instance;
  Device own(instance, select_devices(instance.devices(), {}).front());
  FailedWait::drivers = std::exchange(own.state().table.vk.vkWaitForFences, &FailedWait::wait);
  FailedWait::result = result;
  const std::string error = error_of([&] {
    Submission submission(own.state(), "waiting in vain");
    submission.submit_and_wait(30);
  });
  std::fprintf(stderr, "%s\n", error.c_str());
  const bool is_leaked = own.state().table.abandoned && instance.state().abandoned;
  std::_Exit((own.alive() ? 0 : 1) + (is_leaked ? 2 : 0));
}

TEST(WaitDeathTest, OneThatFailsLeavesEverythingToTheGpu) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fail_a_wait_and_leave(VK_ERROR_OUT_OF_HOST_MEMORY), ::testing::ExitedWithCode(3),
              "waiting in vain on '.*': waiting for the GPU: VK_ERROR_OUT_OF_HOST_MEMORY");
  EXPECT_EXIT(fail_a_wait_and_leave(VK_ERROR_UNKNOWN), ::testing::ExitedWithCode(3), "VK_ERROR_UNKNOWN");
}

TEST(WaitDeathTest, ALostDeviceIsNotLeaked) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fail_a_wait_and_leave(VK_ERROR_DEVICE_LOST), ::testing::ExitedWithCode(1),
              "VK_ERROR_DEVICE_LOST");
}

/// In the driver's place.
VKAPI_ATTR VkResult VKAPI_CALL lose_device(VkDevice, VkQueryPool, std::uint32_t, std::uint32_t, std::size_t,
                                           void*, VkDeviceSize, VkQueryResultFlags) {
  return VK_ERROR_DEVICE_LOST;
}

TEST_F(TimerTest, ALossThatTheTimestampsShowFirstIsKnownAfterwards) {
  Device own(instance(), select_devices(instance().devices(), {}).front());
  if (!Stamps::available(own.state())) GTEST_SKIP() << "the device has no timestamps";
  const Stamps stamps(own.state(), 2);
  own.state().table.vk.vkGetQueryPoolResults = &lose_device;
  EXPECT_THROW(stamps.ticks(), DeviceLost);
  EXPECT_FALSE(own.alive());
  EXPECT_THROW(Submission(own.state(), "going on"), DeviceLost);
}

}  // namespace

}  // namespace assay::gpu
