#include "harness/chain/chain.h"
#include "harness/chain/chain_test_support.h"

#include <gmock/gmock.h>

namespace assay::chain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace test;

/// Expects an error of that part and key whose message has `text`.
void expect_error(const Chain& chain, ChainError::Part part, const std::string& key,
                  const std::string& text) {
  try {
    resolve(chain, {});
    FAIL() << "no error: " << text;
  } catch (const ChainError& error) {
    EXPECT_EQ(static_cast<int>(error.part()), static_cast<int>(part)) << error.what();
    EXPECT_EQ(error.key(), key) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

using Part = ChainError::Part;

const NodeDecl square_a = node("first", "square", {{"x", "x"}}, {{"y", "a"}});

TEST(ChainResolve, OrdersNodesByTheirTensorsAndFindsSizes) {
  const Chain chain = chain_of(
      {node("second", "dense", {{"x", "a"}}, {{"y", "b"}}, {{"N", Value(std::int64_t{5})}}), square_a});
  const ResolvedChain resolved = resolve(chain, {});
  ASSERT_EQ(resolved.nodes.size(), 2U);
  EXPECT_EQ(resolved.nodes[0].name, "first");
  EXPECT_EQ(resolved.nodes[1].params.integer("M"), 2);
  EXPECT_EQ(resolved.nodes[1].params.integer("K"), 3);
  std::vector<std::string> outer;
  for (const std::size_t tensor : resolved.outer) outer.push_back(resolved.tensors[tensor].name);
  EXPECT_THAT(outer, ElementsAre("x", "second.w", "b"));
  EXPECT_TRUE(resolved.tensors[resolved.outer[1]].spec.constant);
  EXPECT_THAT(resolved.tensors[resolved.outer[2]].spec.shape, ElementsAre(2, 5));
}

TEST(ChainResolve, TakesParametersOfTheChain) {
  Chain chain = chain_of({square_a});
  chain.tensors[0].shape = ParamName{"size"};
  Params params;
  params.set("size", Shape{7, 5});
  EXPECT_THAT(resolve(chain, params).tensors.back().spec.shape, ElementsAre(7, 5));
}

TEST(ChainResolve, QparamsFollowTheTensor) {
  const QParams first{0.5F, 3}, second{0.25F, -1};
  Chain chain = chain_of({node("one", "scale", {{"x", "x"}}, {{"y", "a"}}, {{"y", Value(second)}}),
                          node("copy", "q8ta_clone", {{"x", "a"}}, {{"y", "b"}}),
                          node("two", "scale", {{"x", "b"}}, {{"y", "c"}}, {{"y", Value(first)}})});
  chain.tensors[0].dtype = DType::I8;
  chain.tensors[0].qparams = Value(first);
  const ResolvedChain resolved = resolve(chain, {});
  EXPECT_EQ(resolved.nodes[0].params.qparams("x"), first);
  EXPECT_EQ(resolved.nodes[2].params.qparams("x"), second) << "through a node that only moves values";
  EXPECT_EQ(resolved.nodes[2].params.qparams("y"), first);
  chain.nodes[2].params.erase("y");
  EXPECT_EQ(resolve(chain, {}).nodes[2].params.qparams("y"), second) << "without a default, its input's";
  chain.nodes[2].params["x"] = Value(first);
  expect_error(chain, Part::Node, "with.x", "'b' was written with 0.25:-1");
}

TEST(ChainResolve, OutputsAreWhatNobodyReadsOrWhatIsNamed) {
  Chain chain = chain_of({square_a, node("second", "square", {{"x", "a"}}, {{"y", "b"}})});
  EXPECT_EQ(resolve(chain, {}).outer.size(), 2U);
  chain.outputs = {"a", "b"};
  EXPECT_EQ(resolve(chain, {}).outer.size(), 3U) << "an output may be read, too";
  chain.outputs = {"a"};
  expect_error(chain, Part::Node, "outputs.y", "nothing uses 'b'");
  chain.outputs = {"b", "c"};
  expect_error(chain, Part::Output, "", "'c' leaves the chain, but no node");
}

TEST(ChainResolve, RefusesTensorsWithoutOneProducer) {
  expect_error(chain_of({square_a, node("second", "square", {{"x", "x"}}, {{"y", "a"}})}), Part::Node,
               "outputs.y", "the tensor 'a' has two producers: the node 'first' and the node 'second'");
  expect_error(chain_of({node("first", "square", {{"x", "x"}}, {{"y", "x"}})}), Part::Node, "outputs.y",
               "the tensor 'x' has two producers: 'tensors' and");
  expect_error(chain_of({node("first", "add", {{"a", "x"}, {"b", "q"}}, {{"y", "a"}})}), Part::Node,
               "inputs.b", "no node has the output 'q'");
  expect_error(chain_of({}), Part::Chain, "nodes", "at least one node");
}

TEST(ChainResolve, RefusesCycles) {
  expect_error(chain_of({square_a, node("left", "add", {{"a", "a"}, {"b", "c"}}, {{"y", "b"}}),
                         node("right", "square", {{"x", "b"}}, {{"y", "c"}})}),
               Part::Node, "inputs", "a cycle: left, right");
}

TEST(ChainResolve, RefusesWhatDoesNotMeet) {
  expect_error(chain_of({square_a, node("second", "q8ta_clone", {{"x", "a"}}, {{"y", "b"}})}), Part::Node,
               "inputs.x", "the input 'x' of q8ta_clone is i8 [2, 3], but the tensor 'a' is f32 [2, 3]");
  expect_error(chain_of({node("first", "square", {{"x", "x"}}, {{"y", "a"}}, {{"shape", Value(Shape{6})}})}),
               Part::Node, "inputs.x", "f32 [6]");
  expect_error(chain_of({square_a, node("second", "dense", {{"x", "x"}, {"w", "a"}}, {{"y", "b"}},
                                        {{"N", Value(std::int64_t{3})}, {"K", Value(std::int64_t{3})}})}),
               Part::Node, "inputs.w", "f32 [3, 3]");
}

TEST(ChainResolve, RefusesAConstantThatANodeComputes) {
  Chain chain = chain_of({square_a, node("second", "dense", {{"x", "x"}, {"w", "a"}}, {{"y", "b"}},
                                         {{"N", Value(std::int64_t{3})}})});
  chain.tensors[0].shape = Value(Shape{3, 3});
  expect_error(chain, Part::Node, "inputs.w", "it must enter the chain");
}

TEST(ChainResolve, RefusesWhatIsNotConnected) {
  expect_error(chain_of({node("first", "add", {{"a", "x"}}, {{"y", "b"}})}), Part::Node, "inputs",
               "the input 'b' of add is not connected");
  expect_error(chain_of({node("first", "square", {{"x", "x"}}, {})}), Part::Node, "outputs",
               "the output 'y' of square has no name");
  expect_error(chain_of({node("first", "square", {{"x", "x"}, {"z", "x"}}, {{"y", "a"}})}), Part::Node,
               "inputs.z", "reads 'x' as 'x' and as 'z'");
  expect_error(chain_of({square_a, node("second", "square", {{"x", "x"}, {"z", "a"}}, {{"y", "b"}})}),
               Part::Node, "inputs.z", "square has no input 'z' here; it has x");
  expect_error(chain_of({node("first", "dense", {{"x", "x"}}, {{"y", "a"}})}), Part::Node, "",
               "the parameter 'N' of dense is missing");
  expect_error(chain_of({square_a, square_a}), Part::Node, "outputs.y", "two producers");
}

TEST(ChainResolve, RefusesATensorThatNobodyReads) {
  Chain chain = chain_of({square_a});
  chain.tensors.push_back({.name = "z", .dtype = DType::F32, .shape = Value(Shape{1}), .qparams = {}});
  expect_error(chain, Part::Tensor, "", "no node reads the tensor 'z'");
}

/// x is written into a part of `before`, which becomes `after`, of which `read` is made.
Chain updating() {
  Chain chain = chain_of({node("write", "update", {{"x", "x"}, {"cache", "before"}}, {{"cache", "after"}}),
                          node("look", "peek", {{"x", "after"}}, {{"y", "read"}})});
  chain.tensors.push_back(
      {.name = "before", .dtype = DType::F32, .shape = Value(Shape{3, 3}), .qparams = {}});
  chain.outputs = {"after", "read"};
  return chain;
}

TEST(ChainUpdate, AnOutputBeginsWithATensorThatEnters) {
  const ResolvedChain resolved = resolve(updating(), {});
  const ResolvedTensor& after = resolved.tensors[resolved.outer[2]];
  EXPECT_EQ(after.name, "after");
  ASSERT_TRUE(after.begins_as);
  const ResolvedTensor& before = resolved.tensors[*after.begins_as];
  EXPECT_EQ(before.name, "before");
  EXPECT_EQ(before.spec.domain.valid, 2) << "the reader of 'after' says which rows exist";
  EXPECT_EQ(before.spec.domain.most, 16);
  const Op op = op_of(updating());
  const std::vector<TensorSpec> tensors = op.tensors({});
  ASSERT_EQ(tensors.size(), 4U);
  EXPECT_EQ(tensors[2].starts_as, 1U);
  EXPECT_TRUE(tensors[2].written_in_part);
  EXPECT_EQ(tensors[3].starts_as, std::nullopt);
}

TEST(ChainUpdate, AllRowsExistForAReaderThatDoesNotSayWhichDo) {
  for (const std::string name : {"first", "zlast"}) {
    Chain chain = updating();
    const auto place = name == "first" ? chain.nodes.begin() + 1 : chain.nodes.end();
    chain.nodes.insert(place, node(name, "square", {{"x", "after"}}, {{"y", "all"}}));
    chain.outputs.emplace_back("all");
    const ResolvedChain resolved = resolve(chain, {});
    const ResolvedTensor& after = resolved.tensors[resolved.outer[2]];
    ASSERT_EQ(after.name, "after");
    const FillDomain& before = resolved.tensors[*after.begins_as].spec.domain;
    EXPECT_EQ(before.valid, std::nullopt) << name;
    EXPECT_EQ(before.most, 16) << "what any reader says of the values still holds";
    const Op op = op_of(chain);
    EXPECT_EQ(op.work({}, op.tensors({})).bytes_read, 4 * (6 + 9)) << "x, and the whole cache";
  }
}

TEST(ChainUpdate, WorkIsThatOfTheRowsThatExistOrAreWritten) {
  const Op op = op_of(updating());
  const Work work = op.work({}, op.tensors({}));
  EXPECT_EQ(work.bytes_read, 4 * (6 + 6)) << "x, and the rows of the cache that its reader looks at";
  EXPECT_EQ(work.bytes_written, 4 * (6 + 9)) << "the rows that are written, and y";
}

TEST(ChainUpdate, RefusesAContentThatIsNotTheChainsOrThatOthersRead) {
  Chain chain = updating();
  chain.outputs = {"read"};
  expect_error(chain, Part::Node, "outputs.cache",
               "'after', which must leave the chain: name it in 'outputs'");
  chain = updating();
  chain.nodes.push_back(node("old", "square", {{"x", "before"}}, {{"y", "a"}}));
  chain.outputs.emplace_back("a");
  expect_error(chain, Part::Node, "inputs.cache", "only update may have it as an input");
  chain = updating();
  chain.nodes[0].inputs["cache"] = "a";
  chain.nodes.push_back(node("old", "square", {{"x", "before"}}, {{"y", "a"}}));
  expect_error(chain, Part::Node, "inputs.cache", "what it begins with, 'a', must enter the chain");
  chain = updating();
  chain.nodes[0].outputs["x"] = "a";
  chain.outputs.emplace_back("a");
  expect_error(chain, Part::Node, "outputs.x", "update has no output 'x' here; it has cache");
}

TEST(ChainUpdate, RefusesOpsThatReadWhatTheyChange) {
  Op reading = *chain_ops().find("update");
  reading.tensors = [writing = reading.tensors](const Params& params) {
    std::vector<TensorSpec> tensors = writing(params);
    tensors[2].written_in_part = false;
    return tensors;
  };
  Chain chain = updating();
  chain.nodes[0].op = &reading;
  expect_error(chain, Part::Node, "op", "update reads and changes a tensor in place");
}

}  // namespace
}  // namespace assay::chain
