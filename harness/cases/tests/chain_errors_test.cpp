#include "harness/cases/tests/bad_input_test_support.h"

// Tests chains in case files: what they expand to, and errors with their places.

namespace assay::cases {
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

}  // namespace
}  // namespace assay::cases
