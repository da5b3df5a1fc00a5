#include "harness/cases/expectations/expectations.h"
#include "harness/cases/tests/case_file_test_support.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

// Loads files with random bytes changed. The result must be cases or errors, never a crash.

namespace assay::cases {
namespace {

using namespace test;

const std::vector<std::string>& valid_files() {
  static const std::vector<std::string> files{
      shuffle_file + "    forms: {each: [{x: buffer/4W4C}, {y: buffer/4C1W}]}\n    impl: all\n",
      quantize_file +
          "    fill: {x: {each: [ties, {constant: 0.5}]}, scale: zero}\n    tune: {local_size: 64}\n",
      R"(op: quantize_affine
sets: {small: [4], both: {each: [[4], &a [6]]}, pair: {shape: small, block_size: [2]}}
defaults: {tier: smoke, seed: 3}
cases:
  - {name: a, with: pair}
  - {name: b, with: [{shape: both}, {each: [{block_size: *a}, {block_size: [-1]}]}]}
  - name: "c"
    shape: [4]
    block_size: [2]  # a comment
    dtype: >-
      f16
)",
      dequantize_case(
          "    tolerance: {scale: 0.5, abs: 1e-3, ulp: 2, share: 0.5, reason: a driver that rounds twice}\n"
          "    # so that some of the changes fall on what nobody reads, as in the other files here\n"),
      R"(include: [sets.yaml]
op: 'quantize_affine'
cases: [{name: a, shape: [4], block_size: [1], eps: 1e-3}]
)"};
  return files;
}

/// Makes one to four edits: bytes are replaced, removed or inserted, runs are doubled or moved.
std::string mutated(std::string text, std::mt19937& random) {
  static const std::string likely = "[]{}:,-?&*!|>'\"%@` \n\t#~<0123456789.abe\r\x04\x7f\xc3\xef\xbb\xbf";
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
    const std::size_t at = below(text.size() + 1);
    const char byte = below(4) == 0 ? static_cast<char>(below(256)) : likely[below(likely.size())];
    const std::string run = text.substr(at, 1 + below(20));
    switch (below(5)) {
      case 0:
        if (at < text.size()) text[at] = byte;
        break;
      case 1:
        text.erase(at, 1 + below(3));
        break;
      case 2:
        text.insert(at, 1, byte);
        break;
      case 3:
        text.insert(at, run);
        break;
      default:
        text.erase(at, run.size());
        text.insert(below(text.size() + 1), run);
    }
  }
  return text;
}

void expect_sense(const LoadResult& result, const std::string& text) {
  for (const Diagnostic& error : result.errors) {
    EXPECT_FALSE(error.message.empty()) << text;
    EXPECT_FALSE(to_string(error).empty()) << text;
    EXPECT_LE(error.where.column, static_cast<int>(error.source_line.size()) + 1) << text;
  }
  for (const Case& test_case : result.cases) {
    EXPECT_EQ(
        test_case.id.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./"),
        std::string::npos)
        << test_case.id;
    EXPECT_EQ(test_case.forms.size(), test_case.tensors->size());
  }
}

class Mutation : public testing::TestWithParam<std::size_t> {};

TEST_P(Mutation, GivesCasesOrErrors) {
  const TemporaryFolder folder;
  folder.write("sets.yaml", "sets: {shared: [4]}\n");
  const std::string& valid = valid_files()[GetParam()];
  ASSERT_EQ(messages(folder, load_text(folder, valid).errors), "") << "it is valid before it is changed";
  std::mt19937 random(static_cast<std::mt19937::result_type>(GetParam() + 1));
  std::size_t with_cases = 0, with_errors = 0;
  for (int round = 0; round < 1500; ++round) {
    const std::string text = mutated(valid, random);
    const LoadResult result = load_text(folder, text);
    expect_sense(result, text);
    with_cases += result.cases.empty() ? 0 : 1;
    with_errors += result.errors.empty() ? 0 : 1;
    if (HasFailure()) return;
  }
  EXPECT_GT(with_cases, 30u) << "the changes are so small that some files stay good";
  EXPECT_GT(with_errors, 500u);
}

INSTANTIATE_TEST_SUITE_P(Files, Mutation, testing::Range(std::size_t{0}, std::size_t{4}));

TEST(RandomBytes, AreRefused) {
  const TemporaryFolder folder;
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(1 + random() % 2000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const LoadResult result = load_text(folder, bytes);
    EXPECT_TRUE(result.cases.empty());
    EXPECT_FALSE(result.errors.empty());
  }
}

TEST(RandomBytes, DoNoHarmInExpectations) {
  const TemporaryFolder folder;
  const std::string valid =
      "device: \"llvmpipe|H100\"\nexpect:\n  - {match: \"op/*/f16/*\", status: fail, reason: none}\n"
      "  - {match: \"*\", params: {n: 2, s: [1, 2], x: {scale: 0.5, zero_point: 0}}, mode: accu, impl: a,\n"
      "     status: [crash, TIMEOUT], reason: none, link: \"https://example.org\", expires: 2999-12-31}\n";
  std::mt19937 random(11);
  for (int round = 0; round < 1000; ++round) {
    const std::filesystem::path files[] = {folder.write("gpu.yaml", mutated(valid, random))};
    const ExpectationsResult result = load_expectations(files);
    result.expectations.find("llvmpipe (LLVM 15)", {.id = "op/a/f16/x", .params = "n=2 x=0.5:0"});
    for (const Diagnostic& error : result.errors) EXPECT_FALSE(error.message.empty());
  }
}

}  // namespace
}  // namespace assay::cases
