#include "harness/cases/expansion/node_cases.h"

#include "harness/cases/tests/bad_input_test_support.h"

#include <algorithm>
#include <set>

namespace assay::cases {
namespace {

using namespace test;

const std::string two_shuffles = R"(chain: net
params: {size: [1, 16, 4, 4]}
tensors: {image: {dtype: i8, shape: $size, qparams: {scale: 0.5, zero_point: 0}}}
nodes:
  - {name: first, op: q8ta_pixel_shuffle, with: {upscale_factor: 2, y: {scale: 0.25, zero_point: 1}},
     inputs: {x: image}, outputs: {y: a}}
  - {name: second, op: q8ta_pixel_shuffle, with: {upscale_factor: 2, y: {scale: 0.25, zero_point: 1}},
     inputs: {x: a}, outputs: {y: b}}
cases:
  - {name: one, seed: 5, size: {each: [[1, 16, 4, 4], [2, 16, 4, 4]]}, impl: {each: [naive, optimal]}, tier: smoke}
)";

/// The part of its nodes' names that is from a case of a chain.
std::string name_before(const Case& chain_case) {
  std::string name = chain_case.id.substr(0, chain_case.id.rfind('/'));
  std::ranges::replace(name, '/', '.');
  return name;
}

TEST(NodeCases, AreTheNodesInAllFormsOnceForAllCasesOfTheChain) {
  const std::vector<Case> chain_cases = load_good(two_shuffles);
  const std::vector<Case> nodes = node_cases(chain_cases);
  ASSERT_FALSE(nodes.empty());
  std::set<std::string> ids;
  std::set<std::string> points;
  for (const Case& node : nodes) {
    EXPECT_TRUE(ids.insert(node.id).second) << node.id << " is there twice";
    std::string forms;
    for (const Form form : node.forms) forms += to_string(form);
    EXPECT_TRUE(points.insert(node.op->name + node.params->canonical() + forms).second) << node.id;
    EXPECT_EQ(node.mode, Mode::Perf);
    EXPECT_EQ(node.seed, 5U);
    EXPECT_EQ(node.tier, Tier::Smoke);
    EXPECT_FALSE(node.invalid);
  }
  const auto shuffles_of = [&](const std::string& name) {
    return std::ranges::count_if(nodes, [&](const Case& node) { return node.name == name; });
  };
  const std::string small = name_before(chain_cases.front()), large = name_before(chain_cases.back());
  EXPECT_NE(small, large);
  EXPECT_GT(shuffles_of(small + ".first"), 1);
  EXPECT_EQ(shuffles_of(small + ".first"), shuffles_of(small + ".second"));
  EXPECT_EQ(shuffles_of(small + ".first"), shuffles_of(large + ".first"));
}

TEST(NodeCases, HaveTheLowestTierOfTheCasesThatShareThem) {
  std::vector<Case> chain_cases = load_good(two_shuffles);
  std::erase_if(chain_cases, [&](const Case& one) { return one.params->ints("size")[0] != 1; });
  ASSERT_EQ(chain_cases.size(), 2U);
  chain_cases.front().tier = Tier::Nightly;
  for (const Case& node : node_cases(chain_cases)) EXPECT_EQ(node.tier, Tier::Smoke) << node.id;
}

TEST(NodeCases, AcceptAnswersThatProveLittle) {
  const std::vector<Case> nodes = node_cases(load_good(two_shuffles));
  ASSERT_FALSE(nodes.empty());
  for (const Case& node : nodes) {
    EXPECT_NE(node.tensors->back().ends_because, "") << node.id;
    EXPECT_EQ(node.tensors->front().ends_because, "") << "an input";
  }
}

TEST(NodeCases, AreNoneForOtherOps) {
  EXPECT_TRUE(
      node_cases(
          load_good("op: q8ta_pixel_shuffle\ncases: [{name: a, shape: [1, 4, 2, 2], "
                    "upscale_factor: 2, x: {scale: 1, zero_point: 0}, y: {scale: 1, zero_point: 0}}]\n"))
          .empty());
}

}  // namespace
}  // namespace assay::cases
