#include "harness/engine/accuracy/data_set.h"

#include "harness/base/error.h"
#include "harness/tensor/npy/npy.h"
#include "harness/tensor/tensor.h"
#include "tests/support/small_op.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace assay {
namespace {

using test::flip_op;
using test::make_case;
using test::overwrite_op;
using test::shape_params;
using test::tensor;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string message_of(const Case& test_case) try {
  make_data_set(test_case);
  return "";
} catch (const Error& error) {
  return error.what();
}

TEST(DataSet, HoldsTheInputsAndWhatTheReferenceMakesOfThem) {
  const Op op = flip_op();
  const DataSet data = make_data_set(make_case(op, shape_params({2, 3})));
  ASSERT_EQ(data.inputs.size(), 1U);
  ASSERT_EQ(data.expected.size(), 1U);
  EXPECT_EQ(data.inputs[0].shape(), (Shape{2, 3}));
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(data.expected[0].values.at(i), -1 - data.inputs[0].at(i));
  }
  EXPECT_EQ(data.input_hash, hash_of(data.inputs));
  EXPECT_GE(data.reference_ms, 0);
}

TEST(DataSet, DependsOnOpParametersFillAndSeedOnly) {
  const Op op = flip_op();
  const Case base = make_case(op, shape_params({64}));
  const std::string hash = make_data_set(base).input_hash;

  Case renamed = base;
  renamed.name = "other";
  renamed.id = "flip/other/plain";
  renamed.mode = Mode::Perf;
  renamed.tier = Tier::Nightly;
  renamed.tune = {{"local_size", 32}};
  EXPECT_EQ(make_data_set(renamed).input_hash, hash);

  Case reseeded = base;
  reseeded.seed = 1;
  EXPECT_NE(make_data_set(reseeded).input_hash, hash);

  Case refilled = base;
  refilled.fills.edit()["x"] = {.kind = FillKind::Saturate};
  EXPECT_NE(make_data_set(refilled).input_hash, hash);

  Op other = flip_op();
  other.name = "flop";
  Case of_other_op = make_case(other, shape_params({64}));
  EXPECT_NE(make_data_set(of_other_op).input_hash, hash);
}

TEST(DataSet, TakesAnInputFromAFile) {
  const test::TemporaryFolder folder;
  const HostTensor stored = tensor<std::int8_t>({2, 2}, {1, -2, 3, -4});
  write_npy(folder.path() / "x.npy", stored);
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({2, 2}));
  test_case.fills.edit()["x"] = {.kind = FillKind::Npy, .file = (folder.path() / "x.npy").string()};
  const DataSet data = make_data_set(test_case);
  EXPECT_EQ(hash_of(data.inputs[0]), hash_of(stored));
  EXPECT_EQ(data.expected[0].values.at(1), 1);
}

TEST(DataSet, TakesExpectedValuesFromAFileAndKeepsTheReferences) {
  const test::TemporaryFolder folder;
  write_npy(folder.path() / "y.npy", tensor<std::int8_t>({2}, {11, 12}));
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({2}));
  EXPECT_FALSE(make_data_set(test_case).from_files[0].has_value());
  test_case.expected_files.edit()["y"] = (folder.path() / "y.npy").string();
  const DataSet data = make_data_set(test_case);
  EXPECT_EQ(data.wanted(0).at(0), 11);
  EXPECT_EQ(data.wanted(0).at(1), 12);
  EXPECT_EQ(data.expected[0].values.at(0), -1 - data.inputs[0].at(0));
}

TEST(DataSet, TakesLongIntegersWithoutDimsOfOne) {
  const test::TemporaryFolder folder;
  write_npy(folder.path() / "x.npy", tensor<std::int64_t>({2}, {-128, 127}));
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({2, 1}));
  test_case.fills.edit()["x"] = {.kind = FillKind::Npy, .file = (folder.path() / "x.npy").string()};
  const DataSet data = make_data_set(test_case);
  EXPECT_EQ(data.inputs[0].shape(), (Shape{2, 1}));
  EXPECT_EQ(data.inputs[0].at(0), -128);
  write_npy(folder.path() / "x.npy", tensor<std::int64_t>({2}, {5, 200}));
  EXPECT_THAT(message_of(test_case), HasSubstr("x.npy holds 200 at [1], which i8 cannot represent"));
}

/// y = x on f32, within a bound.
Op bounded_op() {
  Op op = flip_op();
  op.tensors = [](const Params& params) {
    const Form form{Storage::Buffer, Layout::WP};
    TensorSpec x{.name = "x", .shape = params.ints("shape"), .forms = {form}};
    TensorSpec y = x;
    y.name = "y";
    y.role = TensorSpec::Role::Output;
    y.output_class = OutputClass::Bounded;
    return std::vector<TensorSpec>{x, y};
  };
  op.reference = [](const Params&, std::span<const HostTensor> inputs) {
    const auto count = static_cast<std::size_t>(inputs[0].numel());
    return std::vector<Expected>{{.values = inputs[0], .bound = std::vector<float>(count, 0.5F)}};
  };
  return op;
}

TEST(DataSet, DoublesStayDoublesForABoundedOutputAlone) {
  const test::TemporaryFolder folder;
  write_npy(folder.path() / "a.npy", tensor<double>({2}, {0.1, 0.2}));
  const Op op = bounded_op();
  Case test_case = make_case(op, shape_params({2}));
  test_case.expected_files.edit()["y"] = (folder.path() / "a.npy").string();
  const DataSet data = make_data_set(test_case);
  EXPECT_EQ(data.wanted(0).dtype(), DType::F64);
  EXPECT_EQ(data.wanted(0).at(0), 0.1);
  test_case.fills.edit()["x"] = {.kind = FillKind::Npy, .file = (folder.path() / "a.npy").string()};
  EXPECT_THAT(message_of(test_case), HasSubstr("a.npy holds 0.1 at [0], which f32 cannot represent"));
}

TEST(DataSet, AReferenceThatForgetsWhatItsClassNeedsIsToldSo) {
  Op op = bounded_op();
  op.reference = [](const Params&, std::span<const HostTensor> inputs) {
    return std::vector<Expected>{{.values = inputs[0]}};
  };
  try {
    make_data_set(make_case(op, shape_params({2})));
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("flip, output 'y' (bounded)"), HasSubstr("bound or magnitude")));
  }
}

TEST(DataSet, SaysWhichFileHoldsAnotherShapeOrType) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "x.npy").string();
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({2, 2}));
  test_case.fills.edit()["x"] = {.kind = FillKind::Npy, .file = {file}};
  write_npy(file, tensor<std::int8_t>({4}, {1, 2, 3, 4}));
  EXPECT_THAT(message_of(test_case),
              HasSubstr("filling 'x': " + file + " holds i8 [4], but 'x' is i8 [2x2]"));
  write_npy(file, tensor<float>({2, 2}, {1, 2, 3, 4}));
  EXPECT_THAT(message_of(test_case), HasSubstr("holds f32 [2x2]"));
}

TEST(DataSet, SaysWhichExpectedFileHoldsAnotherShape) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "y.npy").string();
  write_npy(file, tensor<std::int8_t>({3}, {1, 2, 3}));
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({2}));
  test_case.expected_files.edit()["y"] = file;
  EXPECT_THAT(message_of(test_case), HasSubstr("expected values of 'y': " + file));
}

TEST(DataSet, SaysWhichFileIsMissing) {
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({2}));
  test_case.fills.edit()["x"] = {.kind = FillKind::Npy, .file = {"/nowhere/x.npy"}};
  EXPECT_THAT(message_of(test_case), HasSubstr("/nowhere/x.npy"));
}

TEST(DataSet, AReferenceThatForgetsAnOutputIsToldSo) {
  Op op = flip_op();
  op.reference = [](const Params&, std::span<const HostTensor>) { return std::vector<Expected>{}; };
  EXPECT_THROW(make_data_set(make_case(op, shape_params({2}))), std::logic_error);
}

/// Data sets share the memory of outputs.
TEST(DataSet, OfAnotherSeedBeginsWithTheSameContentWhereAnOutputIsWrittenInPart) {
  const Op op = overwrite_op(8);
  const Case test_case = make_case(op, shape_params({64}));
  const DataSet own = make_data_set(test_case), secret = make_secret_data_set(test_case, 77);
  EXPECT_FALSE(same_bytes(own.inputs[0], secret.inputs[0], 0, 64));
  EXPECT_TRUE(same_bytes(own.inputs[1], secret.inputs[1], 0, 72));
  EXPECT_TRUE(same_bytes(own.expected[0].values, secret.expected[0].values, 64, 72));
  EXPECT_TRUE(same_bytes(data_before(test_case, test_case.tensors[2], own.inputs), own.inputs[1], 0, 72));
  EXPECT_TRUE(has_secret_data(test_case));
  Case known = test_case;
  known.fills.edit()["x"].kind = FillKind::Zero;
  EXPECT_FALSE(has_secret_data(known)) << "what the output begins with is the same in all data sets";
}

TEST(DataSet, OfAReferenceThatChangesWhatItKeepsIsRefused) {
  Op op = overwrite_op(8);
  op.reference = [reference = op.reference](const Params& params, std::span<const HostTensor> inputs) {
    std::vector<Expected> outputs = reference(params, inputs);
    outputs[0].values.as<float>()[70] = 0.5F;
    return outputs;
  };
  const Case test_case = make_case(op, shape_params({64}));
  try {
    make_data_set(test_case);
    FAIL() << "accepted";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("says that element 70 of 'y' is kept"));
  }
}

}  // namespace
}  // namespace assay
