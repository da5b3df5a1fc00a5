#include "harness/gpu/program/pipeline_statistics.h"

#include "tests/support/gpu.h"

#include <cmath>

namespace assay::gpu {
namespace {

using namespace test;

using Known = std::optional<std::int64_t>;

ExecutableStatistics statistics_from(const std::vector<DriverStatistic>& told) {
  ExecutableStatistics all;
  for (const DriverStatistic& one : told) {
    add_statistic(all, one);
  }
  return all;
}

void expect(const ExecutableStatistics& found, Known registers, Known spill_bytes, Known shared_bytes) {
  EXPECT_EQ(found.registers, registers);
  EXPECT_EQ(found.spill_bytes, spill_bytes);
  EXPECT_EQ(found.shared_bytes, shared_bytes);
}

TEST(PipelineStatistics, OfNvidia) {
  expect(statistics_from({{"Register Count", 40},
                          {"Binary Size", 4096},
                          {"Stack Size", 64},
                          {"Local Memory Size", 24},
                          {"Shared Memory Size", 8192}}),
         40, 24, 8192);
}

TEST(PipelineStatistics, OfNvk) {
  expect(statistics_from({{"Instruction count", 512}, {"Number of GPRs", 32}, {"SLM Size", 16}}), 32, 16, {});
}

TEST(PipelineStatistics, OfRadvCountsSpilledRegistersAsBytes) {
  expect(statistics_from({{"SGPRs", 128, 64},
                          {"VGPRs", 48, 64},
                          {"Spilled SGPRs", 3, 64},
                          {"Spilled VGPRs", 5, 64},
                          {"LDS size", 1024, 64}}),
         48, 20, 1024);
}

TEST(PipelineStatistics, OfASubgroupAreSharedByItsInvocations) {
  expect(statistics_from({{"Scratch size", 4096, 64}, {"Spilled VGPRs", 5, 64}}), {}, 64, {});
  expect(statistics_from({{"GRF registers", 128, 16},
                          {"Scratch Memory Size", 1000, 16},
                          {"Workgroup Memory Size", 512, 16},
                          {"Spill Count", 7, 16}}),
         128, 63, 512);
}

TEST(PipelineStatistics, OfASubgroupOfUnknownSizeAreOnlyKnownWhenThereAreNone) {
  expect(statistics_from({{"Scratch size", 4096, 0}}), {}, {}, {});
  expect(statistics_from({{"Scratch size", 0, 0}}), {}, 0, {});
}

TEST(PipelineStatistics, OfOtherDrivers) {
  expect(statistics_from({{"numUsedVgprs", 24}, {"ldsUsageSizeInBytes", 64}}), 24, {}, 64);
  expect(statistics_from({{"Registers used", 12}}), 12, {}, {});
  expect(statistics_from({{"GPRs", 18}}), 18, {}, {});
  expect(statistics_from({{"Work registers", 32}}), 32, {}, {});
}

TEST(PipelineStatistics, PassesOverNamesThatItDoesNotKnow) {
  expect(statistics_from({{"Registers in the wind", 3}, {"", 4}, {"VGPR", 5}}), {}, {}, {});
}

TEST(PipelineStatistics, PassesOverValuesThatAreNone) {
  expect(statistics_from({{"VGPRs", -1}, {"Local Memory Size", std::nan("")}, {"LDS size", 1e30}}), {}, {},
         {});
}

TEST(PipelineStatistics, TheLargestCounts) {
  expect(statistics_from({{"VGPRs", 16}, {"VGPRs", 48}, {"VGPRs", 32}}), 48, {}, {});
  ExecutableStatistics all{.registers = 10, .spill_bytes = {}, .shared_bytes = 100};
  add_statistics(all, {.registers = 20, .spill_bytes = 4, .shared_bytes = 50});
  expect(all, 20, 4, 100);
  add_statistics(all, {});
  expect(all, 20, 4, 100);
}

class ExecutableStatisticsTest : public GpuTest {
 protected:
  Dispatch dispatch(std::uint32_t shared_bytes, DispatchRole role = DispatchRole::Op) {
    directory.write("one.comp", shader_text(buffers({"y"}), "y.data[0] = 1u;"));
    return {.label = "one",
            .shader = "one.comp",
            .local_size = {1, 1, 1},
            .bindings = {Resource::tensor(0)},
            .role = role,
            .shared_bytes = shared_bytes};
  }
};

TEST_F(ExecutableStatisticsTest, AreThoseOfTheDriverOrWhatTheProgramDeclares) {
  const Program program{.scratch = {}, .dispatches = {dispatch(0), dispatch(256), dispatch(64)}};
  const ExecutableStatistics found = executable(program).statistics();
  if (!device().state().tells_statistics) {
    expect(found, {}, {}, 256);
    return;
  }
  ASSERT_TRUE(found.registers.has_value());
  EXPECT_GT(*found.registers, 0);
  EXPECT_LE(*found.registers, 1024);
}

TEST_F(ExecutableStatisticsTest, OfSetupDispatchesDoNotCount) {
  const Program program{.scratch = {}, .dispatches = {dispatch(512, DispatchRole::Setup), dispatch(64)}};
  const ExecutableStatistics found = executable(program).statistics();
  EXPECT_LE(found.shared_bytes.value_or(0), 64);
}

TEST_F(ExecutableStatisticsTest, LeaveTheProgramRunnable) {
  const Program program{.scratch = {}, .dispatches = {dispatch(0)}};
  Executable built = executable(program, 0);
  built.statistics();
  Workspace memory = workspace(program, {words(4)}, 0);
  memory.write(Resource::tensor(0), bytes_of({7, 7, 7, 7}));
  built.run(memory, "one", timeout_s);
  EXPECT_EQ(words_of(memory.read(Resource::tensor(0))).front(), 1u);
}

}  // namespace
}  // namespace assay::gpu
