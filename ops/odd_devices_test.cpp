#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/device/device_profile.h"
#include "harness/gpu/gpu.h"
#include "ops/cases_of_op_test_support.h"
#include "ops/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

// Builds the program of every accuracy row for devices that nobody here has. Nothing runs: what a program
// does on them is for other_devices_test.cpp, as far as the device at hand can do it.

namespace assay::ops {
namespace {

using namespace test;

struct OddDevice {
  std::string name;
  std::function<void(DeviceInfo&)> change;  ///< of a device that has everything
};

void lack_features(DeviceInfo& device, const std::set<Feature>& features) {
  std::erase_if(device.features, [&](Feature feature) { return features.contains(feature); });
}

void have_subgroups_of(DeviceInfo& device, std::uint32_t size) {
  device.subgroup_size = device.min_subgroup_size = device.max_subgroup_size = size;
  device.cooperative_shapes.clear();  // their fragments are of the other size
}

std::vector<OddDevice> odd_devices() {
  std::vector<OddDevice> devices{
      {"workgroups of 128",
       [](DeviceInfo& device) {
         device.max_workgroup_invocations = 128;
         device.max_workgroup_size = {128, 128, 64};
       }},
      {"no 16-bit and 8-bit storage", [](DeviceInfo& device) {
         lack_features(
             device, {Feature::Storage8, Feature::Storage16, Feature::Int8, Feature::Int16, Feature::Float16,
                      Feature::CooperativeMatrixKhr, Feature::CooperativeMatrixNv});
         device.cooperative_shapes.clear();
       }}};
  for (const std::uint32_t size : {8U, 16U, 64U, 128U}) {
    devices.push_back({"subgroups of " + std::to_string(size),
                       [size](DeviceInfo& device) { have_subgroups_of(device, size); }});
    devices.push_back({"workgroups of 128, subgroups of " + std::to_string(size), [size](DeviceInfo& device) {
                         have_subgroups_of(device, size);
                         device.max_workgroup_invocations = 128;
                         device.max_workgroup_size = {128, 128, 64};
                       }});
  }
  return devices;
}

const DeviceInfo& device_with_everything() {
  static const DeviceInfo device = [] {
    const std::string file = ASSAY_SOURCE_DIR "/profiles/nvidia_h200.json";
    const std::optional<std::string> text = whole_file(file);
    if (!text) throw std::runtime_error(file + " cannot be read");
    DeviceInfo read = parse_profile(*text, file, "nvidia_h200").device;
    for (const Storage storage : {Storage::Texture3D, Storage::Texture2D}) {  // no profile has them
      for (const DType dtype : {DType::F32, DType::F16, DType::I32, DType::I8, DType::U8}) {
        read.textures.push_back({.storage = storage,
                                 .dtype = dtype,
                                 .max_extent = {2048, 2048, 2048},
                                 .max_bytes = std::uint64_t{1} << 32,
                                 .sampled = true});
      }
    }
    return read;
  }();
  return device;
}

/// The parameter: the place of a device among odd_devices().
class OddDevices : public testing::TestWithParam<std::size_t> {
 protected:
  /// Whether the case runs there. A test fails where its impl itself chooses what the device cannot do.
  bool runs(const Case& test_case, const DeviceInfo& device) {
    const BuildContext context(test_case.params, test_case.tensors, test_case.forms, device, test_case.tune);
    if (const auto missing = missing_for(*test_case.impl, context)) {
      EXPECT_NE(*missing, "");
      return false;
    }
    try {
      return fits(test_case, test_case.impl->build(context), device);
    } catch (const Error& error) {
      EXPECT_STRNE(error.what(), "");
      return false;
    }
  }

 private:
  static bool fits(const Case& test_case, const Program& program, const DeviceInfo& device) {
    for (const Dispatch& dispatch : program.dispatches) {
      const bool is_possible =
          dispatch.subgroup_size == 0 || device.can_demand(dispatch.subgroup_size, dispatch.local_size);
      EXPECT_TRUE(is_possible || !test_case.tune.empty())
          << dispatch.label << " demands subgroups of " << dispatch.subgroup_size;
    }
    const auto reason = gpu::unsupported(program, physical_tensors(test_case), test_case.impl->needs, device,
                                         gpu::guard_bytes);
    if (!reason) return true;
    const bool is_of_workgroup = reason->find("maxComputeWorkGroupInvocations") != std::string::npos ||
                                 reason->find("maxComputeWorkGroupSize") != std::string::npos;
    EXPECT_TRUE(!is_of_workgroup || !test_case.tune.empty()) << *reason;
    return false;
  }
};

TEST_P(OddDevices, HaveProgramsWithinTheirLimitsOrAReason) {
  const OddDevice odd = odd_devices().at(GetParam());
  DeviceInfo device = device_with_everything();
  odd.change(device);
  const Registry ops = registry();
  std::size_t running = 0;
  for (const std::string& name : names_of_ops()) {
    for (const Case& test_case : accuracy_cases_of(ops, *ops.find(name))) {
      SCOPED_TRACE(odd.name + ": " + test_case.id);
      running += runs(test_case, device) ? 1 : 0;
    }
  }
  EXPECT_GT(running, 1000U);
}

INSTANTIATE_TEST_SUITE_P(AllOfThem, OddDevices, testing::Range(std::size_t{0}, odd_devices().size()),
                         [](const auto& one) { return "device" + std::to_string(one.param); });

}  // namespace
}  // namespace assay::ops
