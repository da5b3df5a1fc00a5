#include "harness/cases/expansion/load.h"
#include "harness/cases/tests/case_file_test_support.h"
#include "harness/tensor/npy/npy.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::cases {
namespace {

using namespace test;

std::uint64_t key_of(std::string_view extra, const LoadOptions& options = {}) {
  const std::vector<Case> cases = load_good(pixel_shuffle_case(extra), options);
  EXPECT_EQ(cases.size(), 1u) << extra;
  return cases.empty() ? 0 : cases[0].data_key;
}

TEST(DataKey, DependsOnNothingButTheData) {
  const std::uint64_t plain = key_of("");
  EXPECT_EQ(key_of("    impl: unfused\n"), plain);
  EXPECT_EQ(key_of("    forms: {y: buffer/4C1W}\n"), plain);
  EXPECT_EQ(key_of("    tier: smoke\n    mode: perf\n    timeout: 3\n"), plain);
  EXPECT_EQ(key_of("    tune: {local_size: 64}\n"), plain);
  EXPECT_EQ(key_of("    model: m\n    layer: mlp.down\n    calls: 16\n    step_tokens: 2\n"), plain);
  EXPECT_EQ(key_of("    fill: normal\n"), plain) << "the default, said aloud";
  EXPECT_EQ(key_of("    seed: 0\n"), plain);
}

TEST(DataKey, DoesNotDependOnTheTolerance) {
  const std::vector<Case> cases =
      load_good(dequantize_case("    tolerance: {each: [{scale: 0.5}, {scale: 2, reason: a test}]}\n"));
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].data_key, cases[1].data_key);
}

TEST(DataKey, DiffersWhereDataDiffer) {
  const std::set<std::uint64_t> keys{key_of(""),
                                     key_of("    seed: 1\n"),
                                     key_of("    fill: ties\n"),
                                     key_of("    fill: constant\n"),
                                     key_of("    fill: {x: {constant: 1}}\n"),
                                     key_of("    fill: {x: {constant: 2}}\n"),
                                     key_of("", {.seed = 9})};
  EXPECT_EQ(keys.size(), 7u);
}

TEST(DataKey, DependsOnParametersAndNotOnHowTheyWereWritten) {
  const std::string text =
      "op: quantize_affine\n"
      "sets: {small: [4]}\n"
      "defaults: {block_size: [2]}\n"
      "cases:\n"
      "  - {name: direct, shape: [4]}\n"
      "  - {name: by_set, shape: small}\n"
      "  - {name: axis, shape: {each: [[4]]}, dtype: f32}\n"
      "  - {name: half, shape: [4], dtype: f16}\n"
      "  - {name: longer, shape: [5]}\n";
  const std::vector<Case> cases = load_good(text);
  ASSERT_EQ(cases.size(), 5u);
  EXPECT_EQ(cases[0].data_key, cases[1].data_key);
  EXPECT_EQ(cases[0].data_key, cases[2].data_key);
  EXPECT_NE(cases[0].data_key, cases[3].data_key);
  EXPECT_NE(cases[0].data_key, cases[4].data_key);
}

HostTensor filled(DType dtype, Shape shape, std::byte value) {
  HostTensor tensor(dtype, std::move(shape));
  for (std::byte& byte : tensor.bytes()) byte = value;
  return tensor;
}

TEST(DataKey, DependsOnTheContentOfFilesAndNotOnTheirNames) {
  const TemporaryFolder folder;
  write_npy(folder.path() / "a.npy", filled(DType::I8, {1, 16, 4, 4}, std::byte{1}));
  write_npy(folder.path() / "same.npy", filled(DType::I8, {1, 16, 4, 4}, std::byte{1}));
  write_npy(folder.path() / "other.npy", filled(DType::I8, {1, 16, 4, 4}, std::byte{2}));
  write_npy(folder.path() / "y.npy", filled(DType::I8, {1, 4, 8, 8}, std::byte{3}));
  const LoadResult result = load_text(
      folder, pixel_shuffle_case("    fill: {x: {each: [{npy: a.npy}, {npy: same.npy}, {npy: other.npy}]}}\n"
                                 "  - name: judged\n"
                                 "    upscale_factor: 2\n"
                                 "    shape: [1, 16, 4, 4]\n"
                                 "    x: {scale: 0.5, zero_point: 1}\n"
                                 "    y: {scale: 0.25, zero_point: -3}\n"
                                 "    fill: {x: {npy: a.npy}}\n"
                                 "    expected: {y: {npy: y.npy}}\n"));
  ASSERT_EQ(messages(folder, result.errors), "");
  ASSERT_EQ(result.cases.size(), 4u);
  EXPECT_EQ(result.cases[0].id, "q8ta_pixel_shuffle/one/a/4W4C.4W4C/fused");
  EXPECT_EQ(result.cases[0].fills->at("x").file, ArrayFile((folder.path() / "a.npy").string()));
  EXPECT_EQ(result.cases[0].data_key, result.cases[1].data_key);
  EXPECT_NE(result.cases[0].data_key, result.cases[2].data_key);
  EXPECT_NE(result.cases[0].data_key, result.cases[3].data_key);
  EXPECT_EQ(result.cases[3].expected_files->at("y"), ArrayFile((folder.path() / "y.npy").string()));
}

}  // namespace
}  // namespace assay::cases
