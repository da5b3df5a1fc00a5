#include "harness/gpu/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::gpu {
namespace {

TEST(MessageLog, CountsEveryMessageAndKeepsEachTextOnce) {
  MessageLog log;
  log.add("a");
  log.add("b");
  log.add("a");
  EXPECT_EQ(log.count(), 3);
  EXPECT_THAT(log.texts(), ::testing::ElementsAre("b", "a"));
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

}  // namespace
}  // namespace assay::gpu
