// Compares the physical int8x4 layouts of harness/tensor/pack.h with golden vectors, which were made without
// our code.

#include "harness/tensor/pack.h"
#include "references/golden/golden_test_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay::references {
namespace {

using namespace test;

TEST(PackGoldenTest, TheInt8x4LayoutsAreThoseOfTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("layout");
  ASSERT_EQ(vectors.size(), 25U);
  for (const Golden& golden : vectors) {
    const auto form = parse_form("buffer/" + golden.params.at("layout").get<std::string>());
    ASSERT_TRUE(form.has_value()) << golden.name;
    const HostTensor x = golden.tensor("x");
    const HostTensor bytes = golden.tensor("bytes");
    const HostTensor mask = golden.tensor("mask");
    const Physical physical(*form, x.dtype(), x.shape());
    const std::vector<std::byte> data = pack(x, physical, Poison::A);
    ASSERT_EQ(data.size(), bytes.bytes().size()) << golden.name;
    std::int64_t owned = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (mask.bytes()[i] == std::byte{0}) {
        ASSERT_EQ(data[i], poison_byte(Poison::A, i)) << golden.name << " padding byte " << i;
        continue;
      }
      ++owned;
      ASSERT_EQ(data[i], bytes.bytes()[i]) << golden.name << " byte " << i;
    }
    EXPECT_EQ(owned, x.numel());
    EXPECT_TRUE(std::ranges::equal(unpack(bytes.bytes(), physical).bytes(), x.bytes())) << golden.name;
  }
}

}  // namespace
}  // namespace assay::references
