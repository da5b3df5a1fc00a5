#include "harness/base/error.h"
#include "harness/tensor/pack.h"
#include "references/golden/golden_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay::references {
namespace {

using namespace test;

TEST(GoldenVectors, AreReadFromTheArchiveOfTheirOp) {
  const std::vector<Golden> vectors = golden_vectors("layout");
  ASSERT_EQ(vectors.size(), 25U);
  EXPECT_TRUE(std::ranges::is_sorted(vectors, {}, &Golden::name));
  const Golden& golden = vectors[10];
  EXPECT_EQ(golden.name, "02_4C");
  EXPECT_EQ(golden.params.at("layout"), "4C");
  EXPECT_TRUE(golden.has("x"));
  EXPECT_FALSE(golden.has("y"));
  EXPECT_EQ(golden.tensor("x").dtype(), DType::I8);  // the dtype that NumPy wrote
  EXPECT_EQ(golden.tensor("x").shape(), (Shape{2, 17, 23, 23}));
}

TEST(GoldenVectors, ATensorOrAnOpThatIsNotThereIsNamed) {
  EXPECT_THAT([] { golden_vectors("layout")[10].tensor("y"); },
              testing::ThrowsMessage<Error>("golden vector 02_4C: its archive has no 02_4C/y.npy"));
  EXPECT_THAT([] { golden_vectors("no_such_op"); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("references/golden/no_such_op.npz")));
}

TEST(GoldenComparison, AcceptsOffByOneOnlyNextToATie) {
  HostTensor got(DType::I8, {3});
  HostTensor want(DType::I8, {3});
  HostTensor pre(DType::F64, {3});
  got.as<std::int8_t>()[0] = 1;  // next to a tie: a flip
  pre.as<double>()[0] = 0.500004;
  got.as<std::int8_t>()[1] = 1;  // not next to one
  pre.as<double>()[1] = 0.49;
  got.as<std::int8_t>()[2] = 2;  // next to one, but off by two
  pre.as<double>()[2] = 0.5;
  const GoldenMatch match = compare(got, want, &pre);
  EXPECT_EQ(match.flips, 1);
  EXPECT_EQ(match.mismatches, 2);
  EXPECT_EQ(compare(got, want, nullptr).mismatches, 3);
}

// Compares the physical int8x4 layouts of harness/tensor/pack.h with golden vectors, which were made without
// our code.

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
