#include "harness/engine/run/row_preparation.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

// What rows of 64 Mi elements need, 2 GiB, is made ahead on a machine with GPUs and 128 GiB.
TEST(MostBytesAhead, IsAShareOfTheMemoryWithinLimits) {
  EXPECT_EQ(most_bytes_ahead(false, 128 * gib), 8 * gib);
  EXPECT_EQ(most_bytes_ahead(false, 64 * gib), 4 * gib);
  EXPECT_EQ(most_bytes_ahead(false, 560 * gib), 8 * gib);
  EXPECT_EQ(most_bytes_ahead(false, 8 * gib), gib);
  EXPECT_EQ(most_bytes_ahead(false, 0), gib) << "unknown";
  EXPECT_EQ(most_bytes_ahead(true, 128 * gib), gib);
}

TEST(BytesOfAnswer, AreThoseOfTheValueAndOfWhatItsClassNeeds) {
  const auto bytes = [](DType dtype, OutputClass output_class) {
    return bytes_of_answer({.name = "y", .dtype = dtype, .output_class = output_class});
  };
  EXPECT_EQ(bytes(DType::I8, OutputClass::Exact), 1U);
  EXPECT_EQ(bytes(DType::F32, OutputClass::Exact), 4U);
  EXPECT_EQ(bytes(DType::F16, OutputClass::Bounded), 16U);
  EXPECT_EQ(bytes(DType::I8, OutputClass::Banded), 13U);
}

}  // namespace
}  // namespace assay
