#include "harness/cases/select.h"
#include "harness/cases/tests/fake_ops_test_support.h"

#include <gtest/gtest.h>

#include <malloc.h>
#include <set>
#include <string>

// Tests the cost of a large product's cases in counts and bytes: a million must be planned in 2 GiB.

namespace assay {
namespace {

using namespace test;

std::string seeds(int count) {
  std::string text = "{each: [0";
  for (int i = 1; i < count; ++i) text += (i % 1000 == 0 ? ",\n      " : ", ") + std::to_string(i);
  return text + "]}";
}

/// Returns `count` seeds, each with 4 shapes, 2 forms and 2 impls.
std::string product_of(int count) {
  return "op: q8ta_pixel_shuffle\n"
         "cases:\n"
         "  - name: many\n"
         "    upscale_factor: 2\n"
         "    shape: {each: [[1, 16, 4, 4], [1, 24, 8, 4], [1, 32, 12, 8], [1, 96, 16, 9]]}\n"
         "    x: {scale: 0.5, zero_point: 1}\n"
         "    y: {scale: 0.25, zero_point: -3}\n"
         "    seed: " +
         seeds(count) +
         "\n"
         "    forms: {each: [{x: buffer/4W4C, y: buffer/4W4C}, {x: buffer/4W4C, y: buffer/4C1W}]}\n"
         "    impl: {each: [fused, unfused]}\n";
}

/// Returns how many objects the members of all cases refer to.
template <class Member>
std::size_t objects(const std::vector<Case>& cases, Member member) {
  std::set<const void*> seen;
  for (const Case& test_case : cases) seen.insert(&*(test_case.*member));
  return seen.size();
}

TEST(LargeProducts, WhatPointsHaveInCommonIsThereOnce) {
  const std::vector<Case> cases = load_good(product_of(10));
  ASSERT_EQ(cases.size(), 160U);
  EXPECT_EQ(objects(cases, &Case::params), 40U) << "once for each data set: shapes x seeds";
  EXPECT_EQ(objects(cases, &Case::tensors), 4U) << "once for each shape";
  EXPECT_EQ(objects(cases, &Case::fills), 1U);
  EXPECT_EQ(objects(cases, &Case::expected_files), 1U);
  EXPECT_EQ(objects(cases, &Case::where), 1U);
}

TEST(LargeProducts, TensorsAreAskedForOnceForEachDataSet) {
  std::vector<Op> ops(fake_ops().ops().begin(), fake_ops().ops().end());
  std::size_t asked = 0;
  for (Op& op : ops) {
    op.tensors = [&asked, tensors = op.tensors](const Params& params) {
      ++asked;
      return tensors(params);
    };
  }
  const Registry registry(std::move(ops));
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.write("case.yaml", product_of(10));
  const LoadResult loaded = load_cases(std::span(&file, 1), registry);
  EXPECT_EQ(loaded.cases.size(), 160U);
  EXPECT_EQ(asked, 40U);
}

TEST(LargeProducts, TwoHundredThousandCasesTakeLessThanAKilobyteEach) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "this allocator does not tell what is in use";
#endif
  const std::size_t before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
  const std::vector<Case> cases = load_good(product_of(12500));
  const std::size_t held = ::mallinfo2().uordblks + ::mallinfo2().hblkhd - before;
  ASSERT_EQ(cases.size(), 200000U);
  EXPECT_LT(held / cases.size(), 1000U);
}

}  // namespace
}  // namespace assay
