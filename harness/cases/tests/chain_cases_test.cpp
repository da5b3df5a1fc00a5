#include "harness/cases/expansion/node_cases.h"
#include "harness/cases/tests/case_file_test_support.h"

#include <algorithm>
#include <set>

namespace assay::cases {

// Tests chains in case files: what they expand to, and errors with their places.

namespace {

using namespace test;

const std::string chain_file = R"(chain: net
params: {size: [1, 8, 4, 4], x: {scale: 0.5, zero_point: 0}}
tensors:
  image: {dtype: i8, shape: $size, qparams: $x}
nodes:
  - name: first
    op: q8ta_pixel_shuffle
    with: {upscale_factor: 2, y: {scale: 0.25, zero_point: 1}}
    inputs: {x: image}
    outputs: {y: a}
  - name: second
    op: q8ta_dequantize
    inputs: {x: a}
    outputs: {y: b}
cases:
  - name: one
    size: {each: [[1, 8, 4, 4], [2, 16, 2, 3]]}
    impl: {each: [naive, optimal]}
)";

TEST(ChainFiles, ExpandLikeThoseOfAnyOp) {
  const std::vector<Case> cases = load_good(chain_file);
  ASSERT_EQ(cases.size(), 4U);
  EXPECT_EQ(cases[0].op->name, "net");
  EXPECT_EQ(cases[0].own_op.get(), cases[0].op) << "the op lives as long as its cases";
  EXPECT_EQ(cases[0].tensors[0].name, "image");
  EXPECT_EQ(cases[0].tensors->back().shape, (Shape{1, 2, 8, 8}));
  EXPECT_EQ(cases[2].tensors->back().shape, (Shape{2, 4, 4, 6}));
  EXPECT_EQ(cases[0].data_key, cases[1].data_key);
  const std::vector<Case> other = load_good(with(chain_file, "scale: 0.25", "scale: 0.75"));
  EXPECT_NE(cases[0].data_key, other[0].data_key) << "the nodes decide the answers";
}

class ChainErrors : public BadInputTest {};

TEST_P(ChainErrors, AreToldWithTheirPlace) {
  expect_message(GetParam());
}

const BadInput chain_inputs[] = {
    {"NoNodes", "chain: net\ntensors: {x: {dtype: f32, shape: [1]}}\ncases: [{name: a}]\n", 0,
     R"(case.yaml:1:1: error: the chain 'net' has no 'nodes'
    chain: net
    ^)"},
    {"UnknownOp", with(chain_file, "op: q8ta_dequantize", "op: q8ta_dequantise"), 0,
     R"(case.yaml:12:5: error: unknown op 'q8ta_dequantise'
        op: q8ta_dequantise
        ^
    did you mean 'q8ta_dequantize'?)"},
    {"UnknownKeyOfANode", with(chain_file, "inputs: {x: a}", "input: {x: a}"), 0,
     R"(case.yaml:13:5: error: unknown key 'input'
        input: {x: a}
        ^
    did you mean 'inputs'?)"},
    {"UnknownParameterOfTheChain", with(chain_file, "$size", "$sise"), 0,
     R"(case.yaml:4:22: error: unknown parameter of the chain: 'sise'
      image: {dtype: i8, shape: $sise, qparams: $x}
                         ^
    did you mean 'size'?)"},
    {"AParameterThatNothingUses", with(chain_file, "params: {size", "params: {stride: 2, size"), 0,
     R"(case.yaml:2:10: error: no tensor and no node uses the parameter 'stride': write $stride where its value counts
    params: {stride: 2, size: [1, 8, 4, 4], x: {scale: 0.5, zero_point: 0}}
             ^)"},
    {"NoProducer", with(chain_file, "{x: a}", "{x: c}"), 0,
     R"(case.yaml:13:14: error: no node has the output 'c', and it is not one of 'tensors'
        inputs: {x: c}
                 ^)"},
    {"TwoProducers", with(chain_file, "{y: b}", "{y: a}"), 0,
     R"(case.yaml:14:15: error: the tensor 'a' has two producers: the node 'first' and the node 'second'
        outputs: {y: a}
                  ^)"},
    {"ATensorThatNobodyReads", with(chain_file, "inputs: {x: image}", "inputs: {x: b}"), 0,
     R"(case.yaml:4:3: error: no node reads the tensor 'image'
      image: {dtype: i8, shape: $size, qparams: $x}
      ^)"},
    {"AValueThatTheOpRefuses", with(chain_file, "upscale_factor: 2", "upscale_factor: 3"), 0,
     R"(case.yaml:8:5: error: node 'first': shape has 8 channels, which 9 (upscale_factor^2) does not divide
        with: {upscale_factor: 3, y: {scale: 0.25, zero_point: 1}}
        ^)"},
    {"AnOpAndAChain", "op: quantize_affine\n" + chain_file, 0,
     R"(case.yaml:1:1: error: a file has the cases of one op or of one chain, not of both
    op: quantize_affine
    ^)"},
    {"TheNameOfAnOp", with(chain_file, "chain: net", "chain: quantize_affine"), 0,
     R"(case.yaml:1:1: error: 'quantize_affine' is an op: give the chain another name
    chain: quantize_affine
    ^)"},
    {"NodesWithoutAChain", "nodes: []\ncases: []\n", 0,
     R"(case.yaml:1:1: error: a file with 'nodes' declares a chain: give it a name with 'chain'
    nodes: []
    ^)"},
};

INSTANTIATE_TEST_SUITE_P(Of, ChainErrors, testing::ValuesIn(chain_inputs), name_of_bad_input);

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
