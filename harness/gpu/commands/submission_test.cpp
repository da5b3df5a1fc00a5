#include "harness/gpu/commands/submission.h"

#include "harness/gpu/kernels/clock_probe.h"
#include "tests/support/error_text.h"
#include "tests/support/gpu.h"

#include <cstdint>
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

}  // namespace

}  // namespace assay::gpu
