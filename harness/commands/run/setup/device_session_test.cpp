#include "harness/commands/run/setup/device_session.h"

#include "harness/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

// What a device is asked before kernels run on it.

namespace assay::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RunDevices, LookAtMatricesOnceEvenWhereADeviceIsOpen) {
  RunDevices devices{RunOptions{}};
  RunDevices::Opened& first = devices.opened().front();
  int checked = 0;
  devices.check_matrices_by([&](gpu::Device& device) {
    ++checked;
    device.distrust_matrices({}, "12 of 256 wrong");
  });
  devices.open(first);  // as a worker does, to watch the phases of what follows
  EXPECT_EQ(checked, 0);
  std::ostringstream log;
  EXPECT_THAT(devices.make_ready(first, log).wrong_matrices, ElementsAre("12 of 256 wrong"));
  EXPECT_EQ(checked, 1);
  EXPECT_THAT(log.str(), HasSubstr("12 of 256 wrong"));
  EXPECT_THAT(devices.make_ready(first, log).wrong_matrices, ElementsAre("12 of 256 wrong"));
  EXPECT_EQ(checked, 1) << "a second session on the device";
}

TEST(RunDevices, LookAtMatricesAgainWhereThatFailed) {
  RunDevices devices{RunOptions{}};
  RunDevices::Opened& first = devices.opened().front();
  int checked = 0;
  devices.check_matrices_by([&](gpu::Device&) {
    if (++checked == 1) throw Error("the device is busy");
  });
  std::ostringstream log;
  EXPECT_THROW(devices.make_ready(first, log), Error);
  devices.make_ready(first, log);
  EXPECT_EQ(checked, 2);
}

}  // namespace
}  // namespace assay::app
