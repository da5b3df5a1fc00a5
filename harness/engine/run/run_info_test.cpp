#include "harness/engine/run/run_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

namespace assay {
namespace {

using ::testing::MatchesRegex;

DeviceInfo device(const std::string& name, const std::string& uuid = "0123456789abcdef0123456789abcdef") {
  DeviceInfo info;
  info.name = name;
  info.uuid = uuid;
  return info;
}

std::vector<std::string> slugs(const std::vector<DeviceInfo>& devices) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < devices.size(); ++i) all.push_back(device_slug(devices, i));
  return all;
}

TEST(DeviceSlug, IsTheNameInSmallLettersDigitsAndDashes) {
  EXPECT_EQ(slugs({device("NVIDIA H100 80GB HBM3")}).front(), "nvidia-h100-80gb-hbm3");
  EXPECT_EQ(slugs({device("llvmpipe (LLVM 15.0.6, 256 bits)")}).front(), "llvmpipe-llvm-15-0-6-256-bits");
  EXPECT_EQ(slugs({device("../../etc/passwd")}).front(), "etc-passwd");
}

TEST(DeviceSlug, HasAWordForANameWithoutLetters) {
  EXPECT_EQ(slugs({device("(\xC2\xAE)")}).front(), "device");
}

TEST(DeviceSlug, EqualNamesAreToldApartByUuid) {
  const std::vector<std::string> all =
      slugs({device("GPU", "aaaaaaaa11111111"), device("Other"), device("GPU", "bbbbbbbb11111111")});
  EXPECT_EQ(all, (std::vector<std::string>{"gpu-aaaaaaaa", "other", "gpu-bbbbbbbb"}));
}

TEST(DeviceSlug, EqualUuidsAreToldApartByIndex) {
  const std::vector<std::string> all = slugs({device("GPU"), device("GPU"), device("gpu")});
  EXPECT_EQ(all[1], "gpu-01234567-1");
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 3U);
}

TEST(DeviceSlug, NoDeviceGetsTheNameThatAnotherGetsWithItsUuid) {
  const std::vector<std::string> all = slugs(
      {device("GPU", "aaaaaaaa11111111"), device("GPU", "bbbbbbbb11111111"), device("GPU aaaaaaaa", "c")});
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 3U);
}

TEST(RunInfo, SaysWhenWhereAndHow) {
  const RunSettings settings = {.version = "1.2.3",
                                .compiler = "GCC 12",
                                .build_type = "Release",
                                .command = {"assay", "run"},
                                .seed = 9,
                                .validation = true,
                                .robust_access = true};
  const RunInfo info = make_run_info(settings, device("GPU"));
  EXPECT_THAT(info.run_id, MatchesRegex("[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}"));
  EXPECT_THAT(info.started_utc, MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  EXPECT_EQ(info.device.name, "GPU");
  EXPECT_EQ(info.version, "1.2.3");
  EXPECT_EQ(info.compiler, "GCC 12");
  EXPECT_EQ(info.build_type, "Release");
  EXPECT_EQ(info.command, settings.command);
  EXPECT_EQ(info.seed, 9U);
  EXPECT_TRUE(info.validation);
  EXPECT_TRUE(info.robust_access);
  EXPECT_GT(info.cores, 0);
  EXPECT_FALSE(info.os.empty());
  EXPECT_FALSE(info.cpu.empty());
  EXPECT_FALSE(info.host.empty());
  EXPECT_EQ(info.schema, report_schema);
}

TEST(RunInfo, TwoRunsOfOneSecondHaveDifferentIds) {
  EXPECT_NE(make_run_info({}, device("GPU")).run_id, make_run_info({}, device("GPU")).run_id);
}

TEST(RunInfo, RecordsTheLoadersVariablesThatAreSet) {
  ASSERT_EQ(::setenv("VK_LOADER_DRIVERS_SELECT", "lvp*", 1), 0);
  ASSERT_EQ(::unsetenv("VK_LOADER_DRIVERS_DISABLE"), 0);
  const RunInfo info = make_run_info({}, device("GPU"));
  ::unsetenv("VK_LOADER_DRIVERS_SELECT");
  EXPECT_EQ(info.environment.at("VK_LOADER_DRIVERS_SELECT"), "lvp*");
  EXPECT_FALSE(info.environment.contains("VK_LOADER_DRIVERS_DISABLE"));
  EXPECT_FALSE(info.environment.contains("PATH"));
}

}  // namespace
}  // namespace assay
