#include "harness/commands/export/unix_time.h"

#include <gtest/gtest.h>

namespace assay::app {
namespace {

TEST(UnixTime, IsThatOfTheDate) {
  EXPECT_EQ(unix_seconds("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(unix_seconds("2026-01-02T03:04:05Z"), 1767323045);
  EXPECT_EQ(unix_seconds("2024-02-29T23:59:59Z"), 1709251199);
}

TEST(UnixTime, IsAbsentForWhatIsNoTime) {
  for (const char* text : {"", "yesterday", "2026-01-02", "2026-02-31T00:00:00Z", "2026-01-02T03:04:05Z and",
                           "2026-01-02T03:04:05+01:00", "2026-01-02T25:00:00Z"}) {
    EXPECT_EQ(unix_seconds(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace assay::app
