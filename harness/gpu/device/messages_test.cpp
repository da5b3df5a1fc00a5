#include "harness/gpu/device/messages.h"

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

}  // namespace
}  // namespace assay::gpu
