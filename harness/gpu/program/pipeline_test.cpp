#include "harness/gpu/program/pipeline.h"

#include "harness/gpu/memory/memory_pool.h"
#include "tests/support/gpu.h"

#include <cmath>
#include <thread>

namespace assay::gpu {
namespace {

using test::buffers;
using test::shader_text;
using test::words;
using namespace test;
using Known = std::optional<std::int64_t>;

class PipelineCacheTest : public test::GpuTest {
 protected:
  PipelineCacheTest() : sources({.directories = {folder_with_shaders()}, .cache_directory = {}}) {}

  std::filesystem::path folder_with_shaders() {
    for (const std::string value : {"1u", "2u"}) {
      directory.write(
          "fill_" + value + ".comp",
          shader_text("layout(constant_id = 3) const uint guard_words = 0u;\n"
                      "layout(constant_id = 4) const uint added = 0u;\n"
                      "layout(push_constant) uniform Push { uint more; } push;\n" +
                          buffers({"x", "y"}),
                      "y.data[guard_words] = x.data[guard_words] + added + push.more + " + value + ";"));
    }
    return directory.path();
  }

  static Dispatch dispatch() {
    Dispatch made{.label = "fill",
                  .shader = "fill_1u.comp",
                  .local_size = {1, 1, 1},
                  .constants = {{"added", 5}},
                  .bindings = {Resource::tensor(0), Resource::tensor(1)}};
    made.push.add(std::int64_t{7});
    return made;
  }

  SharedPipeline get(PipelineCache& cache, const Dispatch& wanted, std::uint32_t guard = guard_bytes) {
    return cache.get(wanted, {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER},
                     sources.compile(wanted.shader, wanted.defines), guard);
  }

  ShaderLibrary sources;
};

TEST_F(PipelineCacheTest, DispatchesThatDifferInNoPartOfAPipelineShareIt) {
  PipelineCache cache(device().state());
  const SharedPipeline first = get(cache, dispatch());
  Dispatch other = dispatch();
  other.workgroups = {4, 1, 1};
  other.push = PushConstants().add(std::int64_t{8});
  other.role = DispatchRole::Setup;
  other.bindings = {Resource::tensor(1), Resource::scratch(0)};
  EXPECT_EQ(get(cache, other), first);
  EXPECT_EQ(cache.size(), 1U);
}

TEST_F(PipelineCacheTest, DispatchesThatDifferInAPartOfAPipelineHaveTheirOwn) {
  PipelineCache cache(device().state());
  std::vector<SharedPipeline> all = {get(cache, dispatch()), get(cache, dispatch(), 0)};
  const auto add = [&](const auto& change) {
    Dispatch changed = dispatch();
    change(changed);
    all.push_back(get(cache, changed));
  };
  add([](Dispatch& d) { d.shader = "fill_2u.comp"; });
  add([](Dispatch& d) { d.constants[0].value = 6; });
  add([](Dispatch& d) { d.local_size = {2, 1, 1}; });
  add([](Dispatch& d) { d.push.add(std::int64_t{1}); });
  add([](Dispatch& d) { d.label = "another name in a debugger"; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      EXPECT_NE(all[i], all[k]) << i << " and " << k;
    }
  }
  EXPECT_EQ(cache.size(), all.size());
}

TEST_F(PipelineCacheTest, TheOneUsedLongestAgoGoesAndLivesWhileItIsInUse) {
  PipelineCache cache(device().state(), 2);
  Dispatch second = dispatch();
  second.constants[0].value = 6;
  Dispatch third = dispatch();
  third.constants[0].value = 7;
  const SharedPipeline a = get(cache, dispatch());
  const std::weak_ptr<Pipeline> b = get(cache, second);
  EXPECT_EQ(get(cache, dispatch()), a);  // now used later than b
  const SharedPipeline c = get(cache, third);
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_TRUE(b.expired()) << "nobody used it";
  EXPECT_EQ(get(cache, dispatch()), a);
  get(cache, second);
  EXPECT_TRUE(c->handle) << "it went from the cache, and still is somebody's";
  EXPECT_NE(get(cache, third), c);
}

/// A driver on which some calls of vkCreateComputePipelines fail, while this object lives.
class FailingDriver {
 public:
  FailingDriver(Device& device, VkResult result, int failures) : table_(&device.state().table) {
    state() = {.real = table_->vk.vkCreateComputePipelines, .result = result, .failures = failures};
    table_->vk.vkCreateComputePipelines = &FailingDriver::create;
  }
  ~FailingDriver() { table_->vk.vkCreateComputePipelines = state().real; }
  FailingDriver(const FailingDriver&) = delete;
  FailingDriver& operator=(const FailingDriver&) = delete;

  static int calls() { return state().calls; }

 private:
  struct State {
    PFN_vkCreateComputePipelines real = nullptr;
    VkResult result = VK_SUCCESS;
    int failures = 0;
    int calls = 0;
  };
  static State& state() {
    static State shared;  // a function of Vulkan has no room for it
    return shared;
  }
  static VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice device, VkPipelineCache cache, std::uint32_t count,
                                               const VkComputePipelineCreateInfo* infos,
                                               const VkAllocationCallbacks* allocator, VkPipeline* made) {
    const PFN_vkCreateComputePipelines real = state().real;
    if (++state().calls <= state().failures || real == nullptr) return state().result;
    return real(device, cache, count, infos, allocator, made);
  }

  DeviceTable* table_;
};

TEST_F(PipelineCacheTest, ADriverThatFailsTheFirstCreationIsAskedAgainAndItIsTold) {
  for (const VkResult result : {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_UNKNOWN}) {
    const FailingDriver driver(device(), result, 1);
    PipelineCache cache(device().state());
    const SharedPipeline made = get(cache, dispatch());
    EXPECT_TRUE(made->handle);
    EXPECT_EQ(FailingDriver::calls(), 2);
    EXPECT_EQ(made->driver_retry, "creating the pipeline of dispatch 'fill' (fill_1u.comp) on '" +
                                      device().info().name + "': the driver failed with " +
                                      result_name(result) + ", and succeeded when asked again");
  }
}

TEST_F(PipelineCacheTest, BeforeTheSecondCreationTheMemoryPoolFreesWhatItKeeps) {
  MemoryPool& pool = memory_pool_of(device().state());
  const std::uint32_t type = tensor_memory_type(device().state().physical.memory, ~0U);
  pool.take(1024, type, "a test").reset();
  ASSERT_GT(pool.kept_bytes(), 0U);
  const FailingDriver driver(device(), VK_ERROR_OUT_OF_DEVICE_MEMORY, 1);
  PipelineCache cache(device().state());
  const SharedPipeline made = get(cache, dispatch());
  EXPECT_TRUE(made->handle);
  EXPECT_EQ(pool.kept_bytes(), 0U);
}

TEST_F(PipelineCacheTest, ADriverThatFailsTwiceIsBelieved) {
  const FailingDriver driver(device(), VK_ERROR_OUT_OF_DEVICE_MEMORY, 2);
  PipelineCache cache(device().state());
  try {
    get(cache, dispatch());
    FAIL() << "nothing was thrown";
  } catch (const OutOfMemory& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("in two attempts: VK_ERROR_OUT_OF_DEVICE_MEMORY"));
  }
  EXPECT_EQ(FailingDriver::calls(), 2);
  EXPECT_EQ(cache.size(), 0U);
}

TEST_F(PipelineCacheTest, AProgramTellsWhatItsDriverDidOnlyWhenAskedAgain) {
  Program program;
  program.dispatches.push_back(dispatch());
  {
    const FailingDriver driver(device(), VK_ERROR_UNKNOWN, 1);
    const Executable made(device(), sources, program, std::vector<Physical>(2, words(1)), guard_bytes);
    EXPECT_THAT(made.driver_retry(), testing::HasSubstr("VK_ERROR_UNKNOWN"));
  }
  program.dispatches.front().label = "another pipeline";
  const Executable untroubled(device(), sources, program, std::vector<Physical>(2, words(1)), guard_bytes);
  EXPECT_EQ(untroubled.driver_retry(), "");
}

TEST_F(PipelineCacheTest, ASecondAttemptAtACreationHasASilenceLimitOfItsOwn) {
  Program program;
  program.dispatches.push_back(dispatch());
  program.dispatches.front().label = "asked twice";
  std::vector<Phase> told;
  std::vector<int> calls;
  const auto compiled = [&](int failures) {
    told.clear();
    calls.clear();
    const FailingDriver driver(device(), VK_ERROR_UNKNOWN, failures);
    device().watch_phases([&](Phase phase, double) {
      told.push_back(phase);
      calls.push_back(FailingDriver::calls());
    });
    const Executable made(device(), sources, program, std::vector<Physical>(2, words(1)), guard_bytes);
    device().watch_phases({});
  };
  compiled(1);
  EXPECT_THAT(told, testing::ElementsAre(Phase::Compile, Phase::Compile, Phase::Host));
  EXPECT_THAT(calls, testing::ElementsAre(0, 1, 2));
  program.dispatches.front().label = "asked once";
  compiled(0);
  EXPECT_THAT(told, testing::ElementsAre(Phase::Compile, Phase::Host));
  program.dispatches.front().label = "asked twice while a row is timed";
  device().tell_phase(Phase::Timing);
  compiled(1);
  EXPECT_THAT(told, testing::IsEmpty());
  device().tell_phase(Phase::Host);
}

/// Keeps the words of the last shader module that was made, while it lives.
class WatchedModules {
 public:
  explicit WatchedModules(Device& device) : table_(&device.state().table) {
    state() = {.real = table_->vk.vkCreateShaderModule, .words = {}};
    table_->vk.vkCreateShaderModule = &WatchedModules::create;
  }
  ~WatchedModules() { table_->vk.vkCreateShaderModule = state().real; }
  WatchedModules(const WatchedModules&) = delete;
  WatchedModules& operator=(const WatchedModules&) = delete;

  static const std::vector<std::uint32_t>& words() { return state().words; }

 private:
  struct State {
    PFN_vkCreateShaderModule real = nullptr;
    std::vector<std::uint32_t> words;
  };
  static State& state() {
    static State shared;  // a function of Vulkan has no room for it
    return shared;
  }
  static VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice device, const VkShaderModuleCreateInfo* info,
                                               const VkAllocationCallbacks* allocator, VkShaderModule* made) {
    state().words.assign(info->pCode, info->pCode + info->codeSize / sizeof(std::uint32_t));
    return state().real(device, info, allocator, made);
  }

  DeviceTable* table_;
};

TEST_F(PipelineCacheTest, OwnProgramsDemandTheModesOfFloatsThatTheDeviceHas) {
  directory.write("halves.comp",
                  shader_text(buffers({"y"}), "y.data[0] = packHalf2x16(vec2(y.data[1], 1.0));"));
  const WatchedModules modules(device());
  const auto made_for = [&](bool external) {
    Dispatch halves{.label = "halves", .shader = "halves.comp", .local_size = {1, 1, 1}};
    if (external) halves.external = ExternalCall{};
    PipelineCache cache(device().state());
    const SharedPipeline made = cache.get(halves, {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER},
                                          sources.compile(halves.shader, {}), guard_bytes);
    return std::pair(WatchedModules::words(), made->float_modes);
  };
  const FloatModes modes = float_modes_of(device().info());
  const auto [external, none] = made_for(true);
  const auto [own, added] = made_for(false);
  EXPECT_EQ(none, "");
  EXPECT_EQ(own, with_float_modes(external, modes).words);
  EXPECT_EQ(added, with_float_modes(external, modes).added) << "which is part of the program's hash";
  EXPECT_EQ(own == external, added.empty());
}

TEST(FloatModesOf, AreThoseOfTheDevice) {
  using enum Feature;
  const auto with = [](std::vector<Feature> features) {
    DeviceInfo device;
    device.features = std::move(features);
    const FloatModes modes = float_modes_of(device);
    return std::pair(modes.rounds_to_even, modes.keeps_subnormals_16);
  };
  EXPECT_EQ(with({}), std::pair(false, false));
  EXPECT_EQ(with({RoundsToEven16, RoundsToEven32}), std::pair(true, false));
  EXPECT_EQ(with({RoundsToEven16, KeepsSubnormals32}), std::pair(false, false));
  EXPECT_EQ(with({RoundsToEven32, KeepsSubnormals16}), std::pair(false, true));
  DeviceInfo nvidia;
  nvidia.driver_name = "NVIDIA";
  nvidia.features = {RoundsToEven16, RoundsToEven32, KeepsSubnormals16};
  EXPECT_FALSE(float_modes_of(nvidia).rounds_to_even) << "it does so unasked";
  EXPECT_FALSE(float_modes_of(nvidia).keeps_subnormals_16);
}

TEST_F(PipelineCacheTest, WhatCannotBeMadeIsNotKept) {
  PipelineCache cache(device().state());
  Dispatch wrong = dispatch();
  wrong.constants.push_back({"no such constant", 1});
  EXPECT_THROW(get(cache, wrong), Error);
  EXPECT_THROW(get(cache, wrong), Error);
  EXPECT_EQ(cache.size(), 0U);
}

TEST_F(PipelineCacheTest, ThreadsThatWantOnePipelineGetTheSame) {
  PipelineCache cache(device().state());
  std::vector<SharedPipeline> got(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] {
      Dispatch wanted = dispatch();
      wanted.constants[0].value = 100 + i % 2;
      got[i] = get(cache, wanted);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(cache.size(), 2U);
  for (std::size_t i = 2; i < got.size(); ++i) {
    EXPECT_EQ(got[i], got[i - 2]);
  }
}

TEST_F(PipelineCacheTest, WhatWasPreparedIsThereForTheExecutable) {
  PipelineCache& cache = pipelines_of(device().state());
  Dispatch once = dispatch();
  once.constants[0].value = 4712;
  const Program program{.scratch = {}, .dispatches = {once}};
  const std::size_t before = cache.size();
  std::thread([&] {
    prepare_executable(device(), sources, program, std::vector{words(1), words(1)}, guard_bytes, {});
  }).join();
  EXPECT_EQ(cache.size(), before + 1);
  const Executable made(device(), sources, program, std::vector{words(1), words(1)}, guard_bytes);
  EXPECT_EQ(cache.size(), before + 1);
}

TEST_F(PipelineCacheTest, AShaderIsReadOnceForEachOfItsSpecializations) {
  PipelineCache cache(device().state());
  const auto interface = [&](const Dispatch& wanted) {
    return cache.interface(wanted, sources.compile(wanted.shader, wanted.defines), guard_bytes);
  };
  Dispatch wider = dispatch();
  wider.local_size = {2, 1, 1};
  const std::shared_ptr<const ShaderInterface> first = interface(dispatch());
  EXPECT_EQ(first->push_bytes, 4U);
  EXPECT_EQ(first->local_size[0], 1U);
  EXPECT_EQ(interface(wider)->local_size[0], 2U);
  EXPECT_EQ(interface(dispatch()), first);
}

TEST_F(PipelineCacheTest, TheDriverIsAskedForStatisticsOnce) {
  PipelineCache cache(device().state());
  const SharedPipeline pipeline = get(cache, dispatch());
  EXPECT_FALSE(pipeline->told);
  statistics_of(device().state(), dispatch(), *pipeline);
  ASSERT_TRUE(pipeline->told);
  pipeline->told->registers = 123;  // a value that no driver reports
  EXPECT_EQ(statistics_of(device().state(), dispatch(), *pipeline).registers, 123);
}

TEST_F(PipelineCacheTest, ProgramsOfADeviceShareItsOwn) {
  PipelineCache& cache = pipelines_of(device().state());
  Dispatch once = dispatch();
  once.constants[0].value = 4711;
  const Program one{.scratch = {}, .dispatches = {once, once}};
  const std::size_t before = cache.size();
  const Executable a = executable(one);
  const Executable b = executable(one);
  EXPECT_EQ(cache.size(), before + 1);
  EXPECT_GT(a.compile_ms(), 0);
  EXPECT_GT(b.compile_ms(), 0) << "the time of the pipeline that it uses";
}

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
