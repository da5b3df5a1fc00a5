#include "harness/gpu/text.h"

#include <gtest/gtest.h>

namespace assay::gpu {
namespace {

TEST(BytesText, UsesPowersOfTenWithOneDecimal) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(9'999), "9999 bytes");
  EXPECT_EQ(bytes_text(10'000), "10.0 kB");
  EXPECT_EQ(bytes_text(1ULL << 27), "134.2 MB");
  EXPECT_EQ(bytes_text(3'250'000'000), "3.2 GB");
}

}  // namespace
}  // namespace assay::gpu
