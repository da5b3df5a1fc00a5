#include "harness/chain/chain.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/row_program.h"
#include "tests/support/small_op.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace assay {
namespace {

using test::flip_op;
using test::make_case;
using test::shape_params;

TEST(RowInfo, SaysACaseInTheWordsOfItsFile) {
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({1, 96, 16, 9}), "small");
  test_case.forms = {{Storage::Buffer, Layout::P4W4C}, {Storage::Texture3D, Layout::CP}};
  test_case.tune = {{"tile", 4}, {"local_size", 128}};
  test_case.tier = Tier::Smoke;
  test_case.mode = Mode::Both;
  test_case.seed = 42;
  const RowInfo info = row_info({.test_case = &test_case, .mode = Mode::Perf}, {});
  EXPECT_EQ(info.id, "flip/small/plain");
  EXPECT_EQ(info.op, "flip");
  EXPECT_EQ(info.name, "small");
  EXPECT_EQ(info.impl, "plain");
  EXPECT_EQ(info.shape, "1x96x16x9");
  EXPECT_EQ(info.params, test_case.params->canonical());
  EXPECT_EQ(info.forms, "x=buffer/4W4C y=texture3d/CP");
  EXPECT_EQ(info.tune, "local_size=128 tile=4");
  EXPECT_EQ(info.fill, "x=uniform");
  EXPECT_EQ(info.mode, "perf") << "the row's mode, not the case's";
  EXPECT_EQ(info.tier, "smoke");
  EXPECT_EQ(info.seed, 42U);
  EXPECT_EQ(info.where.file, "cases/flip.yaml");
  EXPECT_EQ(info.where.line, 7);
}

TEST(RowInfo, NamesTheValueOfAConstantAndTheFileOfAnNpy) {
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({4}));
  test_case.fills.edit()["x"] = {.kind = FillKind::Constant, .value = -3};
  EXPECT_EQ(row_info({.test_case = &test_case, .mode = Mode::Accu}, {}).fill, "x=constant:-3");
  test_case.fills.edit()["x"] = {.kind = FillKind::Npy, .file = {"data/x.npy"}};
  EXPECT_EQ(row_info({.test_case = &test_case, .mode = Mode::Accu}, {}).fill, "x=npy:data/x.npy");
}

/// A case of an op with an input, two constants of nodes, and an output.
Case chain_case(const Op& op) {
  Case test_case = make_case(op, shape_params({4}));
  std::vector<TensorSpec>& tensors = test_case.tensors.edit();
  for (const char* name : {"conv.w", "conv.bias"}) {
    TensorSpec constant = tensors.front();
    constant.name = name;
    constant.constant = true;
    tensors.insert(tensors.end() - 1, constant);
    test_case.fills.edit()[name] = {.kind = FillKind::Normal};
  }
  test_case.forms.assign(tensors.size(), test_case.forms.front());
  return test_case;
}

TEST(RowInfo, LeavesOutTheConstantsOfAChainsNodesUnlessTheyAreUnusual) {
  Op op = flip_op();
  Case plain = chain_case(op);
  EXPECT_EQ(row_info({.test_case = &plain}, {}).shapes, "x=4 conv.w=4 conv.bias=4 y=4") << "no chain";
  op.chain = std::make_shared<const chain::Chain>();
  Case test_case = chain_case(op);
  RowInfo info = row_info({.test_case = &test_case}, {});
  EXPECT_EQ(info.shapes, "x=4 y=4");
  EXPECT_EQ(info.forms, "x=buffer/WP y=buffer/WP");
  EXPECT_EQ(info.fill, "x=uniform constants=normal");
  test_case.forms[1] = {Storage::Buffer, Layout::HP};
  test_case.fills.edit()["conv.bias"] = {.kind = FillKind::Uniform};
  info = row_info({.test_case = &test_case}, {});
  EXPECT_EQ(info.forms, "x=buffer/WP conv.w=buffer/HP y=buffer/WP");
  EXPECT_EQ(info.fill, "x=uniform conv.w=normal conv.bias=uniform");
}

TEST(RowInfo, TellsWhatConv2dStandsFor) {
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({4}));
  test_case.forms[1] = {Storage::Buffer, Layout::P4C};
  test_case.conv2d = {.tensors = {1}, .awaits_device = true};
  EXPECT_EQ(row_info({.test_case = &test_case}, {}).forms, "x=buffer/WP y=buffer/CONV2D");
  test_case.conv2d.awaits_device = false;
  EXPECT_EQ(row_info({.test_case = &test_case}, {}).forms, "x=buffer/WP y=buffer/CONV2D(4C)");
}

TEST(RowProgramTest, NeedsToKnowWhatConv2dStandsFor) {
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({4}));
  test_case.conv2d = {.tensors = {1}, .awaits_device = true};
  EXPECT_THROW(row_program(test_case, {}), std::logic_error);
}

TEST(RowInfo, WithoutTuningThereIsNoTune) {
  const Op op = flip_op();
  const Case untuned = make_case(op, shape_params({4}));
  EXPECT_EQ(row_info({.test_case = &untuned}, {}).tune, "");
}

TEST(RowInfo, ExpectationsMatchTheIdsOfARowAndOfItsCase) {
  RowInfo info{.id = "op/a/cold/versus", .impl = "fused", .params = "n=2", .mode = "perf", .cache = "cold"};
  info.versus = true;
  const RowWords words = words_of(info);
  EXPECT_EQ(words.id, "op/a/cold/versus");
  EXPECT_EQ(words.case_id, "op/a");
  EXPECT_EQ(words.params, "n=2");
  EXPECT_EQ(words.mode, "perf");
  EXPECT_EQ(words.impl, "fused");
  EXPECT_EQ(words_of(RowInfo{.id = "op/cold", .cache = "hot"}).case_id, "op/cold")
      << "a name that a file gave";
}

}  // namespace
}  // namespace assay
