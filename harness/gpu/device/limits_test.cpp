#include "harness/gpu/device/limits.h"

#include "harness/gpu/gpu.h"

#include <gtest/gtest.h>

#include <functional>

namespace assay::gpu {
namespace {

struct Case {
  std::string reason;  ///< empty: supported
  std::function<void(Dispatch&)> change;
};

/// A dispatch exactly at the limits of the default DeviceInfo.
Dispatch at_the_limits() {
  Dispatch dispatch;
  dispatch.label = "d";
  dispatch.local_size = {128, 1, 1};
  dispatch.workgroups = {65535, 65535, 65535};
  dispatch.shared_bytes = 16384;
  for (int i = 0; i < 32; ++i) {
    dispatch.push.add(std::int64_t{i});
  }
  dispatch.bindings.assign(4, Resource::tensor(0));
  return dispatch;
}

TEST(Unsupported, NamesTheLimitOfADispatchWithBothNumbers) {
  const std::vector<Case> cases{
      {"", [](Dispatch&) {}},
      {"dispatch 'd' needs 129 invocations in one dimension of a workgroup, maxComputeWorkGroupSize[0] is "
       "128",
       [](Dispatch& d) {
         d.local_size = {129, 1, 1};
       }},
      {"dispatch 'd' needs 65 invocations in one dimension of a workgroup, maxComputeWorkGroupSize[2] is 64",
       [](Dispatch& d) {
         d.local_size = {1, 1, 65};
       }},
      {"dispatch 'd' needs 192 invocations in a workgroup, maxComputeWorkGroupInvocations is 128",
       [](Dispatch& d) {
         d.local_size = {64, 3, 1};
       }},
      {"dispatch 'd' needs 65536 workgroups in one dimension, maxComputeWorkGroupCount[1] is 65535",
       [](Dispatch& d) { d.workgroups[1] = 65536; }},
      {"dispatch 'd' needs 16385 bytes of shared memory, maxComputeSharedMemorySize is 16384",
       [](Dispatch& d) { d.shared_bytes = 16385; }},
      {"dispatch 'd' needs 132 bytes of push constants, maxPushConstantsSize is 128",
       [](Dispatch& d) { d.push.add(std::int64_t{0}); }},
      {"dispatch 'd' needs 5 storage buffers, maxPerStageDescriptorStorageBuffers is 4",
       [](Dispatch& d) { d.bindings.push_back(Resource::tensor(0)); }},
  };
  const std::vector<Physical> tensors{{{}, DType::F32, {1}}};
  for (const Case& one : cases) {
    Program program;
    program.dispatches.push_back(at_the_limits());
    one.change(program.dispatches.back());
    EXPECT_EQ(unsupported(program, tensors, {}, DeviceInfo{}, 0).value_or(""), one.reason);
  }
}

/// A device that supports required subgroup sizes of 16 to 64, and eight subgroups per workgroup.
DeviceInfo device_of_subgroups() {
  DeviceInfo device;
  device.features = {Feature::FullSubgroups};
  device.min_subgroup_size = 16;
  device.subgroup_size = device.max_subgroup_size = 64;
  device.max_workgroup_invocations = device.max_workgroup_size[0] = 1024;
  device.max_workgroup_subgroups = 8;
  return device;
}

std::optional<std::string> subgroups_unsupported(std::uint32_t size, std::uint32_t local_size,
                                                 const DeviceInfo& device) {
  Program program;
  program.dispatches.push_back({.label = "d", .local_size = {local_size, 1, 1}, .subgroup_size = size});
  return unsupported(program, {}, {}, device, 0);
}

TEST(Unsupported, NamesFullSubgroupsWhereADispatchDemandsThem) {
  DeviceInfo device = device_of_subgroups();
  device.features = {};
  EXPECT_EQ(subgroups_unsupported(32, 128, device),
            "dispatch 'd' needs full subgroups, computeFullSubgroups is missing");
}

TEST(Unsupported, ADispatchMayDemandAnySubgroupSizeOfTheDevicesRange) {
  const DeviceInfo device = device_of_subgroups();
  for (const std::uint32_t size : {16, 32, 64}) {
    EXPECT_EQ(subgroups_unsupported(size, 128, device), std::nullopt) << size;
  }
  EXPECT_EQ(subgroups_unsupported(8, 64, device),
            "dispatch 'd' needs subgroups of 8, the device's sizes are 16 to 64");
  EXPECT_EQ(subgroups_unsupported(128, 128, device),
            "dispatch 'd' needs subgroups of 128, the device's sizes are 16 to 64");
}

TEST(Unsupported, CountsTheSubgroupsOfAWorkgroup) {
  const DeviceInfo device = device_of_subgroups();
  EXPECT_EQ(subgroups_unsupported(64, 512, device), std::nullopt);
  EXPECT_EQ(subgroups_unsupported(32, 512, device),
            "dispatch 'd' needs 16 subgroups of 32 in a workgroup, maxComputeWorkgroupSubgroups is 8");
}

TEST(Unsupported, SubgroupsThatNoDeviceCouldGiveAreAMistake) {
  const DeviceInfo device = device_of_subgroups();
  EXPECT_THROW(subgroups_unsupported(32, 48, device), std::logic_error);
  EXPECT_THROW(subgroups_unsupported(24, 48, device), std::logic_error);
}

TEST(Unsupported, NamesTheMissingFeature) {
  DeviceInfo device;
  device.features = {Feature::Int8, Feature::Storage8};
  const std::vector<Feature> needs{Feature::Storage8, Feature::DotProduct};
  EXPECT_EQ(unsupported({}, {}, needs, device, 0), "shaderIntegerDotProduct is missing");
  device.features.push_back(Feature::DotProduct);
  EXPECT_EQ(unsupported({}, {}, needs, device, 0), std::nullopt);
}

const Form plain{Storage::Buffer, Layout::WP};

TEST(Unsupported, ABufferMayFillTheRangeWithItsGuardsAndNoMore) {
  DeviceInfo device;
  device.max_storage_buffer_range = 4096 + 2 * 1024;
  const std::vector<Physical> fits{{plain, DType::F32, {1024}}};
  const std::vector<Physical> large{{plain, DType::F32, {1024}}, {plain, DType::F32, {1025}}};
  EXPECT_EQ(unsupported({}, fits, {}, device, 1024), std::nullopt);
  EXPECT_EQ(unsupported({}, large, {}, device, 0), std::nullopt);
  EXPECT_EQ(unsupported({}, large, {}, device, 1024),
            "buffer 'tensor 1' needs 6148 bytes, 2048 of them guards, maxStorageBufferRange is 6144");
}

TEST(Unsupported, CallsBuffersByTheirNames) {
  const std::vector<Physical> tensors{{plain, DType::F32, {53'500'000}}};
  const std::vector<std::string> names{"y"};
  EXPECT_EQ(unsupported({}, tensors, {}, DeviceInfo{}, 0, names),
            "buffer 'y' needs 214000000 bytes, 0 of them guards, maxStorageBufferRange is 134217728");
}

TEST(Unsupported, ChecksScratchToo) {
  Program program;
  program.scratch.push_back({.name = "sums", .dtype = DType::I32, .shape = {1 << 26}, .form = plain});
  EXPECT_EQ(unsupported(program, {}, {}, DeviceInfo{}, 0),
            "buffer 'sums' needs 268435456 bytes, 0 of them guards, maxStorageBufferRange is 134217728");
}

}  // namespace
}  // namespace assay::gpu
