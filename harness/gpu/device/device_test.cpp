#include "harness/gpu/device/device.h"

#include "harness/gpu/commands/submission.h"
#include "harness/gpu/device/features.h"
#include "harness/gpu/program/pipeline.h"
#include "tests/support/gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;
using namespace test;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class DriverCacheTest : public ::testing::Test {
 protected:
  static std::vector<std::byte> bytes(const std::string& text) {
    std::vector<std::byte> made(text.size());
    std::memcpy(made.data(), text.data(), text.size());
    return made;
  }

  test::TemporaryFolder directory;
  const std::vector<std::byte> data = bytes("what a driver compiled");
  DriverCacheFile cache{directory.path() / "deep" / "inside", "a device and its driver"};
};

TEST_F(DriverCacheTest, GivesBackWhatWasStoredLast) {
  EXPECT_EQ(cache.load(), std::nullopt);
  cache.store(data);
  EXPECT_EQ(cache.load(), data);
  cache.store(bytes("more"));
  EXPECT_EQ(cache.load(), bytes("more"));
  EXPECT_EQ(std::distance(fs::directory_iterator(cache.file().parent_path()), {}), 1)
      << "a temporary file was left behind";
}

TEST_F(DriverCacheTest, DistrustsEveryFlippedByteAndReplacesTheFile) {
  cache.store(data);
  const std::string good = test::read_file(cache.file());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    test::write_file(cache.file(), bad);
    EXPECT_EQ(cache.load(), std::nullopt) << "byte " << i;
  }
  cache.store(data);
  EXPECT_EQ(cache.load(), data);
}

TEST_F(DriverCacheTest, DistrustsEveryTruncationAndTail) {
  cache.store(data);
  const std::string good = test::read_file(cache.file());
  for (std::size_t length = 0; length < good.size(); ++length) {
    test::write_file(cache.file(), good.substr(0, length));
    EXPECT_EQ(cache.load(), std::nullopt) << length << " bytes";
  }
  test::write_file(cache.file(), good + "more");
  EXPECT_EQ(cache.load(), std::nullopt);
}

TEST_F(DriverCacheTest, DistrustsTheFileOfAnotherDriver) {
  const DriverCacheFile other(cache.file().parent_path(), "the same device and another driver");
  other.store(data);
  EXPECT_NE(other.file(), cache.file());
  fs::rename(other.file(), cache.file());
  EXPECT_EQ(cache.load(), std::nullopt);
}

TEST_F(DriverCacheTest, StartsAnewWhereThereIsTooMuch) {
  cache.store(data);
  const DriverCacheFile small(cache.file().parent_path(), "a device and its driver", data.size() - 1);
  EXPECT_EQ(small.load(), std::nullopt);
  small.store(data);
  EXPECT_FALSE(fs::exists(cache.file()));
}

TEST_F(DriverCacheTest, ADirectoryThatCannotBeMadeIsNoError) {
  const DriverCacheFile nowhere(directory.write("file", "in the way") / "cache", "a device");
  EXPECT_NO_THROW(nowhere.store(data));
  EXPECT_EQ(nowhere.load(), std::nullopt);
}

class DistrustedMatricesTest : public test::GpuTest {};

TEST_F(DistrustedMatricesTest, AreNotListedAndTheirReasonIsNotedOnce) {
  Device own(instance(), 0);
  const CooperativeShape wide{16, 16, 32, DType::I8, DType::I32, MatrixExtension::Khr};
  const CooperativeShape narrow{16, 8, 32, DType::I8, DType::I32, MatrixExtension::Khr};
  own.state().trusted.cooperative_shapes = {wide, narrow};
  own.distrust_matrices(wide, "12 of 256 wrong");
  own.distrust_matrices(wide, "12 of 256 wrong");
  EXPECT_EQ(own.info().cooperative_shapes, std::vector{narrow});
  EXPECT_EQ(own.info().wrong_matrices, std::vector<std::string>{"12 of 256 wrong"});
}

class KeptPipelinesTest : public test::GpuTest {};

/// Mesa's lavapipe returns a header and nothing else.
TEST_F(KeptPipelinesTest, ADriverThatKeepsNothingLeavesNoFile) {
  Device own(instance(), 0);
  if (!own.info().is_cpu()) GTEST_SKIP() << "drivers of GPUs keep something";
  own.keep_pipelines_in(directory.path() / "pipelines");
  own.save_pipelines();
  EXPECT_FALSE(fs::exists(directory.path() / "pipelines"));
}

TEST_F(KeptPipelinesTest, ADeviceTakesWhatItsDriverGave) {
  Device own(instance(), 0);
  const DriverCacheFile file(directory.path(), own.state().physical.cache_identity);
  file.store(own.state().pipeline_data());
  own.keep_pipelines_in(directory.path());
  EXPECT_EQ(own.state().kept_bytes, own.state().pipeline_data().size());
}

TEST_F(KeptPipelinesTest, AFileOfNothingKnownIsPassedOver) {
  Device own(instance(), 0);
  const DriverCacheFile file(directory.path(), own.state().physical.cache_identity);
  directory.write(file.file().filename().string(), "no cache");
  EXPECT_NO_THROW(own.keep_pipelines_in(directory.path()));
  EXPECT_TRUE(own.state().pipeline_cache);
}

class DeviceTest : public GpuTest {};

TEST_F(DeviceTest, InfoIsWholeAndPlausible) {
  const DeviceInfo& info = device().info();
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.driver_name.empty());
  EXPECT_FALSE(info.driver_info.empty());
  EXPECT_THAT(info.type, ::testing::AnyOf("discrete", "integrated", "virtual", "cpu", "other"));
  EXPECT_THAT(info.api_version, MatchesRegex("1\\.[1-9]\\.[0-9]+"));
  EXPECT_THAT(info.uuid, MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(info.uuid.size(), 32u);
  EXPECT_NE(info.uuid, std::string(32, '0'));
  EXPECT_TRUE(std::is_sorted(info.extensions.begin(), info.extensions.end()));
  EXPECT_GE(info.max_workgroup_count[0], 65535u);
  EXPECT_GE(info.max_workgroup_invocations, 128u);
  EXPECT_GE(info.max_shared_bytes, 16384u);
  EXPECT_GE(info.max_push_constant_bytes, 128u);
  EXPECT_GE(info.max_storage_buffer_range, 1ULL << 27);
  EXPECT_GE(info.max_image_3d, 256u);
  EXPECT_GE(info.max_image_2d, 4096u);
  EXPECT_LE(info.min_subgroup_size, info.subgroup_size);
  EXPECT_LE(info.subgroup_size, info.max_subgroup_size);
  EXPECT_GT(info.device_memory_bytes, 0u);
  EXPECT_EQ(info.timestamp_valid_bits > 0, info.timestamp_period_ns > 0);
}

TEST_F(DeviceTest, ShaderCoresAreKnownWhereAnExtensionReportsThem) {
  const DeviceInfo& info = device().info();
  const auto has = [&](const char* extension) {
    return std::ranges::binary_search(info.extensions, std::string(extension));
  };
  const bool reports = has("VK_NV_shader_sm_builtins") || has("VK_AMD_shader_core_properties") ||
                       has("VK_ARM_shader_core_builtins");
  EXPECT_EQ(info.shader_cores > 0, reports);
  EXPECT_EQ(info.shader_cores_or_assumed(), reports ? info.shader_cores : assumed_shader_cores);
}

TEST_F(DeviceTest, TwoDevicesOfOneProcessWorkSideBySide) {
  directory.write("one.comp", shader_text(buffers({"y"}), "y.data[0] += 1u;"));
  Program program;
  program.dispatches.push_back(
      {.label = "one", .shader = "one.comp", .local_size = {1, 1, 1}, .bindings = {Resource::tensor(0)}});
  const std::vector<Physical> tensors{words(1)};
  Instance other_instance({.robust_access = true});
  Device other(other_instance, select_devices(other_instance.devices(), {}).front());
  ShaderLibrary library({.directories = {directory.path()}, .cache_directory = {}});
  for (Device* each : {&device(), &other, &device()}) {
    Executable runnable(*each, library, program, tensors, 0);
    Workspace memory(*each, program, tensors, 0);
    memory.write(Resource::tensor(0), bytes_of({41}));
    runnable.run(memory, "one", timeout_s);
    EXPECT_EQ(words_of(memory.read(Resource::tensor(0)))[0], 42u);
  }
}

TEST(FloatModesOfADevice, AreItsProperties) {
  using Controls = VkPhysicalDeviceFloatControlsProperties;
  const std::pair<VkBool32 Controls::*, const char*> members[] = {
      {&Controls::shaderRoundingModeRTEFloat32, "shaderRoundingModeRTEFloat32"},
      {&Controls::shaderRoundingModeRTEFloat16, "shaderRoundingModeRTEFloat16"},
      {&Controls::shaderRoundingModeRTZFloat32, "shaderRoundingModeRTZFloat32"},
      {&Controls::shaderRoundingModeRTZFloat16, "shaderRoundingModeRTZFloat16"},
      {&Controls::shaderDenormPreserveFloat32, "shaderDenormPreserveFloat32"},
      {&Controls::shaderDenormPreserveFloat16, "shaderDenormPreserveFloat16"},
      {&Controls::shaderDenormFlushToZeroFloat32, "shaderDenormFlushToZeroFloat32"},
      {&Controls::shaderDenormFlushToZeroFloat16, "shaderDenormFlushToZeroFloat16"},
      {&Controls::shaderSignedZeroInfNanPreserveFloat32, "shaderSignedZeroInfNanPreserveFloat32"},
      {&Controls::shaderSignedZeroInfNanPreserveFloat16, "shaderSignedZeroInfNanPreserveFloat16"}};
  for (const auto& [member, name] : members) {
    Controls controls{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
    controls.denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
    EXPECT_TRUE(float_modes(controls).empty());
    controls.*member = VK_TRUE;
    ASSERT_EQ(float_modes(controls).size(), 1U) << name;
    EXPECT_EQ(name_of(float_modes(controls).front()), name);
  }
}

TEST(FloatModesOfADevice, LackSubnormalHalvesWhereAllWidthsShareTheMode) {
  VkPhysicalDeviceFloatControlsProperties controls{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
  controls.denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
  controls.shaderDenormPreserveFloat16 = controls.shaderDenormFlushToZeroFloat16 = VK_TRUE;
  controls.shaderDenormPreserveFloat32 = VK_TRUE;
  EXPECT_EQ(float_modes(controls), std::vector{Feature::KeepsSubnormals32});
}

// Whether a device made with these features checks each access to a buffer.
bool is_robust(const FeatureChain& chain) {
  return static_cast<const VkPhysicalDeviceFeatures2*>(chain.chain())->features.robustBufferAccess == VK_TRUE;
}

TEST_F(DeviceTest, AccessIsRobustWhereItIsAskedFor) {
  for (const PhysicalDevice& physical : instance().state().physical) {
    EXPECT_TRUE(is_robust(FeatureChain(physical.facts, true))) << "every device has it";
    EXPECT_FALSE(is_robust(FeatureChain(physical.facts)));
    EXPECT_FALSE(FeatureChain(physical.facts).clears_workgroup_memory());
    EXPECT_EQ(FeatureChain(physical.facts, true).features(), physical.info.features);
  }
}

/// Drivers may hand the memory of one workgroup to the next as it is: lavapipe does, even from one dispatch
/// to another.
TEST_F(DeviceTest, WorkgroupMemoryIsClearedWithRobustAccess) {
  constexpr std::uint32_t workgroups = 64;
  directory.write("marks.comp", shader_text("shared uint marks[4000];\n" + buffers({"y"}),
                                            "uint found = 0u;\n"
                                            "for (uint i = 0u; i < 4000u; ++i) {\n"
                                            "  found |= marks[i]; marks[i] = 0xabcdu;\n}\n"
                                            "y.data[gl_WorkGroupID.x] = found;"));
  Program program;
  program.dispatches.push_back({.label = "marks",
                                .shader = "marks.comp",
                                .local_size = {1, 1, 1},
                                .workgroups = {workgroups, 1, 1},
                                .bindings = {Resource::tensor(0)}});
  const std::vector<Physical> tensors{words(workgroups)};
  Instance robust({.robust_access = true});
  Device cleared(robust, select_devices(robust.devices(), {}).front());
  if (!cleared.state().clears_workgroup_memory) GTEST_SKIP() << "the device cannot";
  ShaderLibrary library({.directories = {directory.path()}, .cache_directory = {}});
  Executable runnable(cleared, library, program, tensors, 0);
  Workspace memory(cleared, program, tensors, 0);
  for (int run = 0; run < 3; ++run) {
    memory.write(Resource::tensor(0), bytes_of(std::vector<std::uint32_t>(workgroups, 7U)));
    runnable.run(memory, "marks", timeout_s);
    EXPECT_THAT(words_of(memory.read(Resource::tensor(0))), ::testing::Each(0U)) << "run " << run;
  }
}

TEST_F(DeviceTest, AnIndexThatDoesNotExistIsAnError) {
  EXPECT_THROW(Device(instance(), 1000), Error);
}

struct FeatureUse {
  Feature feature;
  std::string declarations;
  std::string body;
};

std::vector<FeatureUse> feature_uses() {
  return {
      {Feature::Storage8,
       "#extension GL_EXT_shader_8bit_storage : require\n"
       "layout(set = 0, binding = 0) buffer Y { uint8_t y[]; };",
       "y[0] = uint8_t(7);"},
      {Feature::Storage16,
       "#extension GL_EXT_shader_16bit_storage : require\n"
       "layout(set = 0, binding = 0) buffer Y { float16_t y[]; };",
       "y[0] = float16_t(7.0);"},
      {Feature::Int8, "#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require\n" + buffers({"y"}),
       "int8_t a = int8_t(y.data[0]); y.data[0] = uint(a * a);"},
      {Feature::Int16,
       "#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require\n" + buffers({"y"}),
       "int16_t a = int16_t(y.data[0]); y.data[0] = uint(a * a);"},
      {Feature::Float16,
       "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n" + buffers({"y"}),
       "float16_t a = float16_t(y.data[0]); y.data[0] = uint(a * a);"},
      {Feature::Int64,
       "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n" + buffers({"y"}),
       "int64_t a = int64_t(y.data[0]); y.data[0] = uint(a * a);"},
      {Feature::SubgroupArithmetic,
       "#extension GL_KHR_shader_subgroup_arithmetic : require\n" + buffers({"y"}),
       "y.data[0] = subgroupAdd(y.data[0]);"},
      {Feature::SubgroupShuffle, "#extension GL_KHR_shader_subgroup_shuffle : require\n" + buffers({"y"}),
       "y.data[0] = subgroupShuffle(y.data[0], 0u);"},
      {Feature::SubgroupVote, "#extension GL_KHR_shader_subgroup_vote : require\n" + buffers({"y"}),
       "y.data[0] = subgroupAny(y.data[0] == 3u) ? 1u : 0u;"},
      {Feature::SubgroupBallot, "#extension GL_KHR_shader_subgroup_ballot : require\n" + buffers({"y"}),
       "y.data[0] = subgroupBallotBitCount(subgroupBallot(true));"},
      {Feature::SubgroupShuffleRelative,
       "#extension GL_KHR_shader_subgroup_shuffle_relative : require\n" + buffers({"y"}),
       "y.data[0] = subgroupShuffleUp(y.data[0], 1u);"},
      {Feature::SubgroupClustered, "#extension GL_KHR_shader_subgroup_clustered : require\n" + buffers({"y"}),
       "y.data[0] = subgroupClusteredAdd(y.data[0], 2u);"},
      {Feature::SubgroupQuad, "#extension GL_KHR_shader_subgroup_quad : require\n" + buffers({"y"}),
       "y.data[0] = subgroupQuadSwapHorizontal(y.data[0]);"},
      {Feature::MemoryModel, "#pragma use_vulkan_memory_model\n" + buffers({"y"}), "y.data[0] = 7u;"},
      {Feature::DotProduct,
       "#extension GL_EXT_spirv_intrinsics : require\n"
       "spirv_instruction(extensions = [\"SPV_KHR_integer_dot_product\"], capabilities = [6019, 6018], id = "
       "4450) int packed_dot(int a, int b, spirv_literal int format);\n" +
           buffers({"y"}),
       "y.data[0] = uint(packed_dot(0x01020304, 0x01010101, 0));"},
  };
}

// The validation layer complains when a shader uses a feature that was not enabled: see GpuTest::TearDown.
TEST_F(DeviceTest, WhatIsReportedAsAFeatureIsEnabled) {
  for (const FeatureUse& use : feature_uses()) {
    if (!device().info().has(use.feature)) {
      continue;
    }
    directory.write("use.comp", shader_text(use.declarations, use.body));
    Program program;
    program.dispatches.push_back(
        {.label = "use", .shader = "use.comp", .local_size = {1, 1, 1}, .bindings = {Resource::tensor(0)}});
    Workspace memory = workspace(program, {words(4)});
    executable(program).run(memory, name_of(use.feature), timeout_s);
    EXPECT_EQ(instance().validation_messages(), messages_before) << name_of(use.feature);
  }
}

class ValidationTest : public ::testing::Test {
 protected:
  ValidationTest() : device(instance, select_devices(instance.devices(), {}).front()) {}

  Instance instance{{.validation = true}};
  Device device;
};

TEST_F(ValidationTest, CountsAMisuse) {
  ASSERT_EQ(instance.validation_messages(), 0);
  Submission submission(device.state(), "misusing Vulkan");
  // A barrier between no stages is forbidden, but no driver crashes on it.
  device.state().table.vk.vkCmdPipelineBarrier(submission.commands(), 0, 0, 0, 0, nullptr, 0, nullptr, 0,
                                               nullptr);
  EXPECT_GE(instance.validation_messages(), 1);
  ASSERT_FALSE(instance.validation_texts().empty());
  EXPECT_THAT(instance.validation_texts().back(), HasSubstr("vkCmdPipelineBarrier"));
}

// Proves that missing barriers are detected, so that the absence of messages in other tests means something.
TEST_F(ValidationTest, SeesThatABarrierIsMissingBetweenDispatches) {
  const TemporaryFolder directory;
  directory.write("first.comp", shader_text(buffers({"x", "s"}), "s.data[0] = x.data[0];"));
  directory.write("second.comp", shader_text(buffers({"s", "y"}), "y.data[0] = s.data[0];"));
  Program program;
  program.dispatches = {
      {.label = "first", .shader = "first.comp", .bindings = {Resource::tensor(0), Resource::tensor(1)}},
      {.label = "second", .shader = "second.comp", .bindings = {Resource::tensor(1), Resource::tensor(2)}}};
  ShaderLibrary library({.directories = {directory.path()}, .cache_directory = {}});
  const std::vector<Physical> tensors(3, words(16));
  Executable runnable(device, library, program, tensors, 0);
  Workspace memory(device, program, tensors, 0);
  runnable.time(memory, {.warm = 1, .batch = 3, .spacing = Spacing::Barrier}, 30);
  EXPECT_EQ(instance.validation_messages(), 0);
  runnable.time(memory, {.warm = 1, .batch = 3, .spacing = Spacing::Overlapped}, 30);
  EXPECT_GE(instance.validation_messages(), 1);
  EXPECT_THAT(instance.validation_texts(), ::testing::Contains(HasSubstr("SYNC-HAZARD")));
}

/// There is nothing to enable for operations of subgroups.
bool has_to_be_enabled(Feature feature) {
  return feature < Feature::SubgroupArithmetic || feature > Feature::SubgroupQuad;
}

// With a profile that lacks a feature, a kernel that uses it is refused, and would be found by validation.
TEST(Profile, WhatItLacksIsNotEnabled) {
  const TemporaryFolder directory;
  Instance instance({.validation = true, .as_if = DeviceProfile{.name = "bare", .device = {}}});
  Device device(instance, select_devices(instance.devices(), {}).front());
  EXPECT_TRUE(device.info().features.empty());
  EXPECT_EQ(device.info().max_workgroup_invocations, 128U);
  EXPECT_EQ(instance.validation_messages(), 0);
  const Instance plain;
  const DeviceInfo& real = plain.devices()[select_devices(plain.devices(), {}).front()];
  EXPECT_EQ(device.info().name, real.name + " as bare");
  const std::vector<Physical> tensors{words(4)};
  for (const FeatureUse& use : feature_uses()) {
    const std::string file = std::string(name_of(use.feature)) + ".comp";
    directory.write(file, shader_text(use.declarations, use.body));
    ShaderLibrary library({.directories = {directory.path()}, .cache_directory = {}});
    Program program;
    program.dispatches.push_back(
        {.label = "use", .shader = file, .local_size = {1, 1, 1}, .bindings = {Resource::tensor(0)}});
    const std::int64_t before = instance.validation_messages();
    EXPECT_THAT([&] { const Executable runnable(device, library, program, tensors, 0); },
                ::testing::ThrowsMessage<Unsupported>(HasSubstr(", which is missing")))
        << name_of(use.feature);
    EXPECT_EQ(instance.validation_messages(), before) << "the driver sees no such kernel";
    if (!has_to_be_enabled(use.feature) || !real.has(use.feature)) continue;
    const Dispatch& dispatch = program.dispatches.front();
    create_pipeline(device.state(), dispatch, {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER}, library.compile(dispatch),
                    /*guard=*/0);
    EXPECT_GT(instance.validation_messages(), before) << name_of(use.feature);
  }
}

TEST(Instance, WithoutValidationHearsNothing) {
  Instance instance;
  Device device(instance, select_devices(instance.devices(), {}).front());
  EXPECT_EQ(instance.validation_messages(), 0);
  EXPECT_TRUE(instance.validation_texts().empty());
}

/// Runs in the child process of a death test: exits with 0 when `action` throws an Error with `code` whose
/// message contains `part`.
template <class Action>
[[noreturn]] void expect_error_and_exit(ExitCode code, const std::string& part, const Action& action) {
  try {
    action();
    std::fprintf(stderr, "nothing was thrown\n");
  } catch (const Error& error) {
    if (error.code() == code && std::string(error.what()).find(part) != std::string::npos) {
      std::exit(0);
    }
    std::fprintf(stderr, "%s\n", error.what());
  }
  std::exit(1);
}

using InstanceDeathTest = ::testing::Test;

TEST(InstanceDeathTest, WithoutADriverThereIsNoDevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("VK_DRIVER_FILES", "/nonexistent.json", 1);
        ::setenv("VK_ICD_FILENAMES", "/nonexistent.json", 1);
        expect_error_and_exit(ExitCode::NoDevice, "mesa-vulkan-drivers", [] {
          const Instance instance;
          select_devices(instance.devices(), {});
        });
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(InstanceDeathTest, WithoutTheLayerValidationNamesThePackage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("VK_LAYER_PATH", "/nonexistent", 1);
        expect_error_and_exit(ExitCode::Usage, "install the package vulkan-validationlayers",
                              [] { const Instance instance({.validation = true}); });
      },
      ::testing::ExitedWithCode(0), "");
}

/// Starts a kernel that never ends, and leaves as a program would: destroys everything and calls exit().
[[noreturn]] void hang_and_leave() {
  ::alarm(40);  // a destructor that hangs must not hang the test
  const TemporaryFolder directory;
  directory.write("hang.comp", shader_text("layout(set = 0, binding = 0) volatile buffer Y { uint y[]; };",
                                           "for (uint i = 0u; i != 0xFFFFFFFFu; i += y[0]) y[1] = i;"));
  int failures = 0;
  {
    Instance instance({.validation = true});
    Device device(instance, select_devices(instance.devices(), {}).front());
    Program program;
    program.dispatches.push_back({.label = "hang",
                                  .shader = "hang.comp",
                                  .local_size = {64, 1, 1},
                                  .bindings = {Resource::tensor(0)}});
    // lavapipe leaves any loop after 65535 iterations: there the number of workgroups takes forever.
    program.dispatches.front().workgroups = {65535, 1000, 1};
    ShaderLibrary library({.directories = {directory.path()}, .cache_directory = {}});
    const std::vector<Physical> tensors{words(2)};
    Executable runnable(device, library, program, tensors, 0);
    Workspace memory(device, program, tensors, 0);
    memory.write(Resource::tensor(0), bytes_of({0, 0}));
    try {
      runnable.run(memory, "'hang'", 0.25);
      ++failures;
    } catch (const Timeout& timeout) {
      std::fprintf(stderr, "%s\n", timeout.what());
    }
    try {
      runnable.run(memory, "after", 0.25);
      ++failures;
    } catch (const DeviceLost& lost) {
      std::fprintf(stderr, "%s\n", lost.what());
    }
    try {
      memory.read(Resource::tensor(0));
      ++failures;
    } catch (const DeviceLost&) {
    }
  }
  std::exit(failures == 0 ? 42 : failures);
}

TEST(TimeoutDeathTest, AKernelThatNeverEndsIsATimeoutAndTheProcessStillEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(hang_and_leave(), ::testing::ExitedWithCode(42),
              "running 'hang' on '.*': the GPU did not finish within 0.25 s");
}

TEST(Fault, SaysNothingWhereTheDriverDoes) {
  EXPECT_EQ(to_string(Fault{}), "");
}

TEST(Fault, NamesWhatWasDoneAtWhichAddress) {
  const Fault fault{.description = "MMU fault",
                    .addresses = {{VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT, 0x7f001000, 4096},
                                  {VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT, 0x40, 1}},
                    .vendor = {"Graphics exception (0x1, 0x2)"}};
  EXPECT_EQ(to_string(fault),
            " (the driver says: MMU fault; invalid read at 0x7f001000, within 4096 bytes; instruction "
            "pointer fault at 0x40; Graphics exception (0x1, 0x2))");
}

}  // namespace

}  // namespace assay::gpu
