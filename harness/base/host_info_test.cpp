#include "harness/base/host_info.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(HostInfo, TellsTheMachineItRunsOn) {
  const HostInfo host = host_info();
  EXPECT_FALSE(host.name.empty());
  EXPECT_FALSE(host.os.empty());
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_GE(host.cores, 1);
}

}  // namespace
}  // namespace assay
