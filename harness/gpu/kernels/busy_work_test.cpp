#include "harness/gpu/kernels/busy_work.h"

#include "tests/support/gpu.h"

#include <thread>

namespace assay::gpu {
namespace {

using namespace test;

class BusyWorkTest : public GpuTest {
 protected:
  ShaderLibrary library;
};

TEST_F(BusyWorkTest, IsAvailableOnGpusWithASecondQueue) {
  const ClockProbe probe(device(), library);
  const BusyWork busy(device(), library, probe);
  EXPECT_EQ(busy.is_available(), !device().info().is_cpu() && device().state().physical.queues > 1);
}

TEST_F(BusyWorkTest, LeavesAnswersAsTheyAreAndEndsWhenAsked) {
  ClockProbe probe(device(), library);
  BusyWork busy(device(), library, probe);
  const Program program = probe_program(device().info(), 3);
  const std::vector<Physical> tensors{
      Physical({Storage::Buffer, Layout::WP}, DType::F32, {probe_words(device().info())})};
  Executable built(device(), library, program, tensors, 0);
  std::vector<std::byte> first;
  for (int i = 0; i < 20; ++i) {
    busy.start();
    Workspace memory = workspace(program, tensors, 0);
    built.run(memory, "beside busy work", timeout_s);
    if (i % 2 == 0) busy.start();
    if (i % 3 == 0) std::this_thread::yield();
    busy.stop();
    if (i % 4 == 0) busy.stop();
    const std::vector<std::byte> bytes = memory.read(Resource::tensor(0));
    if (first.empty()) first = bytes;
    EXPECT_EQ(bytes, first);
  }
  EXPECT_GT(probe.time_ns(timeout_s), 0);
  busy.start();  // and is destroyed while it runs
}

}  // namespace
}  // namespace assay::gpu
