#include "harness/gpu/device/instance.h"

#include "harness/gpu/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace assay::gpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MessageLog, CountsEveryMessageAndKeepsEachTextOnce) {
  MessageLog log;
  log.add("a");
  log.add("b");
  log.add("a");
  EXPECT_EQ(log.count(), 3);
  EXPECT_THAT(log.texts(), ::testing::ElementsAre("b", "a"));
}

TEST(MessageLog, TellsWhatWasSaidSince) {
  MessageLog log;
  log.add("a");
  log.add("b");
  log.add("c");
  EXPECT_THAT(log.texts(2), ::testing::ElementsAre("c"));
  log.add("a");
  EXPECT_THAT(log.texts(2), ::testing::ElementsAre("c", "a")) << "it was said again";
  EXPECT_THAT(log.texts(4), ::testing::ElementsAre());
}

TEST(MessageLog, KeepsTheNewestTexts) {
  MessageLog log;
  for (int i = 0; i < 105; ++i) {
    log.add(std::to_string(i));
  }
  EXPECT_EQ(log.count(), 105);
  ASSERT_EQ(log.texts().size(), MessageLog::kept);
  EXPECT_EQ(log.texts().front(), "5");
  EXPECT_EQ(log.texts().back(), "104");
}

TEST(LayerIsTooOld, KnowsWhatALayerSaysOfNewerThingsAndNothingElse) {
  EXPECT_TRUE(
      layer_is_too_old("Device Extension VK_KHR_cooperative_matrix is not supported by this layer.  Using"));
  EXPECT_TRUE(layer_is_too_old("pNext chain includes a structure with unknown VkStructureType (1000506000)"));
  EXPECT_TRUE(layer_is_too_old("SPIR-V module not valid: Invalid capability operand: 6022"));
  EXPECT_FALSE(layer_is_too_old("SPIR-V module not valid: Invalid capability operand: 7"));
  EXPECT_FALSE(layer_is_too_old("pNext chain includes a structure with unexpected VkStructureType"));
  EXPECT_FALSE(layer_is_too_old("[ SYNC-HAZARD-READ-AFTER-WRITE ] vkCmdDispatch"));
}

DeviceInfo device(const std::string& name, const std::string& type, const std::string& uuid) {
  DeviceInfo info;
  info.name = name;
  info.type = type;
  info.uuid = uuid;
  return info;
}

const std::string uuid_a(32, 'a');
const std::string uuid_b = "0123456789abcdef0123456789abcdef";

std::vector<DeviceInfo> farm() {
  return {device("llvmpipe (LLVM 15)", "cpu", std::string(32, '1')),
          device("Radeon 780M", "integrated", std::string(32, '2')),
          device("GeForce RTX 4090", "discrete", uuid_a),
          device("GeForce RTX 4090", "discrete", uuid_b),
          device("Virtio", "virtual", std::string(32, '3')),
          device("GeForce RTX 4090 D", "discrete", std::string(32, '4'))};
}

std::string refusal(const std::vector<DeviceInfo>& devices, const std::vector<std::string>& asked,
                    ExitCode code) {
  try {
    select_devices(devices, asked);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(SelectDevices, TakesTheBestByDefault) {
  std::vector<DeviceInfo> devices = farm();
  EXPECT_THAT(select_devices(devices, {}), ElementsAre(2));
  devices.erase(devices.begin() + 2, devices.begin() + 4);
  devices.pop_back();
  EXPECT_THAT(select_devices(devices, {}), ElementsAre(1));  // integrated before virtual and cpu
  devices.erase(devices.begin() + 1);
  EXPECT_THAT(select_devices(devices, {}), ElementsAre(1));  // virtual before cpu
}

TEST(SelectDevices, TakesAnIndexAUuidOrAPartOfAName) {
  EXPECT_THAT(select_devices(farm(), {"4"}), ElementsAre(4));
  EXPECT_THAT(select_devices(farm(), {uuid_b}), ElementsAre(3));
  EXPECT_THAT(select_devices(farm(), {"01234567-89AB-CDEF-0123-456789abcdef"}), ElementsAre(3));
  EXPECT_THAT(select_devices(farm(), {"RADEON"}), ElementsAre(1));
  EXPECT_THAT(select_devices(farm(), {"780"}), ElementsAre(1));  // no index: there are 6 devices
}

TEST(SelectDevices, KeepsTheOrderAskedForAndNamesEachOnce) {
  EXPECT_THAT(select_devices(farm(), {"llvmpipe", "2", "0"}), ElementsAre(0, 2));
  EXPECT_THAT(select_devices(farm(), {"3", "all"}), ElementsAre(3, 0, 1, 2, 4, 5));
}

TEST(SelectDevices, AWholeNameGoesBeforeAPart) {
  EXPECT_THAT(select_devices(farm(), {"geforce rtx 4090 d"}), ElementsAre(5));
}

TEST(SelectDevices, ListsTheDevicesWhenSeveralMatch) {
  const std::string message = refusal(farm(), {"GeForce RTX 4090"}, ExitCode::Usage);
  EXPECT_THAT(message, HasSubstr("selecting device 'GeForce RTX 4090': 2 devices match"));
  EXPECT_THAT(message, HasSubstr("3: GeForce RTX 4090 (discrete, UUID " + uuid_b + ")"));
}

TEST(SelectDevices, ListsTheDevicesWhenNoneMatches) {
  EXPECT_THAT(refusal(farm(), {"Mali"}, ExitCode::Usage), HasSubstr("0: llvmpipe (LLVM 15) (cpu"));
  EXPECT_THAT(refusal(farm(), {"-1"}, ExitCode::Usage), HasSubstr("selecting device '-1'"));
}

TEST(SelectDevices, WithoutAnyDeviceSaysWhatToInstall) {
  EXPECT_THAT(refusal({}, {}, ExitCode::NoDevice), HasSubstr("mesa-vulkan-drivers"));
  EXPECT_THAT(refusal({}, {"all"}, ExitCode::NoDevice), HasSubstr("no Vulkan 1.1 device"));
}

/// Handles that nobody uses.
std::array<VkPhysicalDevice, 3> three_handles() {
  static std::array<int, 3> places{};
  std::array<VkPhysicalDevice, 3> handles{};
  for (std::size_t i = 0; i < handles.size(); ++i)
    handles[i] = reinterpret_cast<VkPhysicalDevice>(&places[i]);
  return handles;
}

TEST(DescribeAll, LeavesOutADeviceOfNoUse) {
  const auto handles = three_handles();
  const auto describe_one = [&](VkPhysicalDevice handle) -> std::optional<PhysicalDevice> {
    if (handle == handles[1]) return std::nullopt;
    PhysicalDevice described;
    described.info.name = handle == handles[0] ? "first" : "last";
    return described;
  };
  const std::vector<PhysicalDevice> found = describe_all(handles, describe_one);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.back().info.name, "last");
  const auto useless = [](VkPhysicalDevice) { return std::optional<PhysicalDevice>(); };
  EXPECT_TRUE(describe_all(handles, useless).empty()) << "no driver failed";
}

// Without the device of a driver that fails another one would be measured.
TEST(DescribeAll, NamesEachDriverThatFails) {
  const auto handles = three_handles();
  const auto describe_one = [&](VkPhysicalDevice handle) -> std::optional<PhysicalDevice> {
    if (handle == handles[1]) return PhysicalDevice();
    throw Error(handle == handles[0] ? "the first fails" : "the last fails");
  };
  try {
    describe_all(handles, describe_one);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::NoDevice);
    EXPECT_THAT(error.what(), HasSubstr("(the first fails; the last fails)"));
    EXPECT_THAT(error.what(), HasSubstr("VK_LOADER_DRIVERS_DISABLE"));
  }
}

}  // namespace

}  // namespace assay::gpu
