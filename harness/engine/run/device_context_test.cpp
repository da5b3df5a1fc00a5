#include "harness/engine/run/device_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(LayerMessages, OfSeveralTimesAreCountedAndKeptOnceEach) {
  LayerMessages messages{.count = 3, .texts = {"a", "b"}};
  messages.add({.count = 2, .texts = {"a", "c"}});
  EXPECT_EQ(messages.count, 5);
  EXPECT_THAT(messages.texts, ::testing::ElementsAre("b", "a", "c"));
}

}  // namespace
}  // namespace assay
