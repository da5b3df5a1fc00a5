#include "harness/op/op.h"

#include "tests/support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace assay {
namespace {

using test::row;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

Op named(std::string name) {
  Op op;
  op.name = std::move(name);
  return op;
}

TEST(OpTest, StreamingWorkIsEachInputReadAndEachOutputWrittenOnce) {
  std::vector<TensorSpec> tensors(3);
  tensors[0].dtype = DType::F32;
  tensors[0].shape = {2, 5};
  tensors[1].dtype = DType::F16;
  tensors[1].shape = {3};
  tensors[2].dtype = DType::I8;
  tensors[2].shape = {2, 5};
  tensors[2].role = TensorSpec::Role::Output;
  const Work work = streaming_work(tensors);
  EXPECT_EQ(work.bytes_read, 46);
  EXPECT_EQ(work.bytes_written, 10);
  EXPECT_EQ(work.operations, 0);
}

TEST(OpTest, AutoIsTheDefaultImplElseTheFirst) {
  Op op = named("clone");
  EXPECT_EQ(op.default_impl(), nullptr);
  op.impls.resize(2);
  op.impls[0].name = "plain";
  op.impls[1].name = "fused";
  EXPECT_EQ(op.default_impl(), &op.impls[0]);
  op.impls[1].name = "auto";
  EXPECT_EQ(op.default_impl(), &op.impls[1]);
}

TEST(OpTest, ImplsAndParametersAreFoundByName) {
  Op op = named("clone");
  op.params = {shape("shape"), integer("r")};
  op.impls.resize(2);
  op.impls[0].name = "plain";
  op.impls[1].name = "fused";
  EXPECT_EQ(op.find_impl("fused"), &op.impls[1]);
  EXPECT_EQ(op.find_impl("fuse"), nullptr);
  EXPECT_EQ(op.find_param("shape"), &op.params[0]);
  EXPECT_EQ(op.find_param(""), nullptr);
}

TEST(RegistryTest, OpsAreFoundByNameInTheOrderGiven) {
  const Registry registry({named("b"), named("a")});
  ASSERT_EQ(registry.ops().size(), 2U);
  EXPECT_EQ(registry.ops()[0].name, "b");
  EXPECT_EQ(registry.find("a"), &registry.ops()[1]);
  EXPECT_EQ(registry.find("c"), nullptr);
}

TEST(RegistryTest, TwoOpsOfOneNameAreAMistake) {
  EXPECT_THROW(Registry({named("a"), named("b"), named("a")}), std::logic_error);
}

TEST(BuildContextTest, ATunedValueGoesBeforeTheFallback) {
  const Params params;
  const DeviceInfo device;
  const std::map<std::string, std::int64_t> tune{{"local_size", 128}};
  const BuildContext context{params, {}, {}, device, tune};
  EXPECT_EQ(context.tuned("local_size", 64), 128);
  EXPECT_EQ(context.tuned("tile", 4), 4);
}

TEST(BuildContextTest, APhysicalTensorHasTheFormOfItsCase) {
  const Params params;
  const DeviceInfo device;
  const std::map<std::string, std::int64_t> tune;
  std::vector<TensorSpec> tensors(1);
  tensors[0].dtype = DType::I8;
  tensors[0].shape = {1, 5, 2, 3};
  const std::vector<Form> forms{{Storage::Buffer, Layout::P4C}};
  const BuildContext context{params, tensors, forms, device, tune};
  EXPECT_EQ(context.physical(0).elements(), 2 * 3 * 8);
}

Op op_of_three_ways() {
  Op op = named("op");
  Impl plain;
  plain.name = "plain";
  plain.build = [](const BuildContext&) { return Program{}; };
  Impl dot = plain;
  dot.name = "dot";
  dot.needs = {Feature::DotProduct};
  Impl tiles = plain;
  tiles.name = "tiles";
  tiles.unsupported_reason = [](const BuildContext& context) -> std::optional<std::string> {
    if (context.device.max_shared_bytes >= 32768) return std::nullopt;
    return "32768 bytes of shared memory are needed";
  };
  tiles.invalid_reason = [](const ImplPoint& point) -> std::optional<std::string> {
    return point.tune.contains("tile") ? std::optional<std::string>("tile 3") : std::nullopt;
  };
  Impl chooser;
  chooser.name = "auto";
  chooser.choose = [](const BuildContext&) { return std::vector<std::string>{"tiles", "dot", "plain"}; };
  op.impls = {plain, dot, tiles, chooser};
  return op;
}

TEST(ChosenImplTest, IsTheFirstOfTheChoiceThatCanRun) {
  const Op op = op_of_three_ways();
  const Params params;
  DeviceInfo device;
  const Tune none;
  const Tune tile{{"tile", 3}};
  const auto chosen = [&](const Tune& tune) {
    return chosen_impl(op, *op.find_impl("auto"), BuildContext(params, {}, {}, device, tune)).name;
  };
  EXPECT_EQ(chosen(none), "plain");
  device.features = {Feature::DotProduct};
  EXPECT_EQ(chosen(none), "dot");
  device.max_shared_bytes = 32768;
  EXPECT_EQ(chosen(none), "tiles");
  EXPECT_EQ(chosen(tile), "dot") << "tiles exclude the point";
}

TEST(ChosenImplTest, IsTheFirstWhereNoneCanRun) {
  Op op = op_of_three_ways();
  op.impls.back().choose = [](const BuildContext&) { return std::vector<std::string>{"tiles", "dot"}; };
  const Params params;
  const DeviceInfo device;
  const Tune tune;
  const BuildContext context(params, {}, {}, device, tune);
  const Impl& impl = chosen_impl(op, op.impls.back(), context);
  EXPECT_EQ(impl.name, "tiles");
  EXPECT_EQ(missing_for(impl, context), "32768 bytes of shared memory are needed");
  EXPECT_EQ(missing_for(op.impls[1], context), "shaderIntegerDotProduct is missing");
}

TEST(ChosenImplTest, AChoiceOfNothingIsAMistake) {
  Op op = op_of_three_ways();
  op.impls.back().choose = [](const BuildContext&) { return std::vector<std::string>(); };
  const Params params;
  const DeviceInfo device;
  const Tune tune;
  EXPECT_THROW(chosen_impl(op, op.impls.back(), BuildContext(params, {}, {}, device, tune)),
               std::logic_error);
}

/// Returns an op whose impls "wide" and "deep" have a layout for CONV2D, and whose "auto" chooses.
Op op_of_two_layouts() {
  Op op = named("conv");
  op.impls.resize(3);
  op.impls[0] = {.name = "wide", .conv2d_layout = Layout::P4C1W};
  op.impls[1] = {.name = "deep", .conv2d_layout = Layout::P4C};
  op.impls[2].name = "auto";
  op.impls[2].choose = [](const BuildContext&) { return std::vector<std::string>{"deep", "wide"}; };
  return op;
}

TEST(Conv2dLayoutsTest, AreThoseOfTheImplsEachOnce) {
  Op op = op_of_two_layouts();
  op.impls.push_back(op.impls[0]);
  EXPECT_EQ(conv2d_layouts(op), (std::vector{Layout::P4C1W, Layout::P4C}));
  EXPECT_TRUE(conv2d_layouts(op_of_three_ways()).empty());
}

TEST(Conv2dLayoutsTest, AreSaidByEveryImplWithAProgramOrByNone) {
  EXPECT_NO_THROW(Registry({op_of_two_layouts(), op_of_three_ways()}));
  Op silent = op_of_two_layouts();
  silent.impls[1].conv2d_layout = std::nullopt;
  EXPECT_THROW(Registry({silent}), std::logic_error);
  Op of_auto = op_of_two_layouts();
  of_auto.impls[2].conv2d_layout = Layout::P4C;
  EXPECT_THROW(Registry({of_auto}), std::logic_error);
}

TEST(TunableTest, AllowsItsRangeOrJustWhatItLists) {
  const Tunable range{.name = "local_size", .min = 1, .max = 64};
  EXPECT_TRUE(range.allows(64));
  EXPECT_FALSE(range.allows(65));
  EXPECT_EQ(range.range_text(), "1..64");
  const Tunable list{.name = "tile", .allowed = {32, 64, 128}};
  EXPECT_TRUE(list.allows(32));
  EXPECT_FALSE(list.allows(33));
  EXPECT_EQ(list.range_text(), "32, 64, 128");
}

const Resource x = Resource::tensor(0), w = Resource::tensor(1), y = Resource::tensor(2);
const Resource packed = Resource::scratch(0), sums = Resource::scratch(1);

std::vector<TensorSpec> tensors() {
  return {{.name = "x"}, {.name = "w", .constant = true}, {.name = "y", .role = TensorSpec::Role::Output}};
}

Dispatch dispatch(std::string label, DispatchRole role, std::vector<Binding> bindings) {
  return {.label = std::move(label), .bindings = std::move(bindings), .role = role};
}

Dispatch setup(std::vector<Binding> bindings) {
  return dispatch("pack", DispatchRole::Setup, std::move(bindings));
}

Program program(std::vector<Dispatch> dispatches) {
  return {.scratch = {{.name = "packed"}, {.name = "sums"}}, .dispatches = std::move(dispatches)};
}

const Dispatch product = dispatch("product", DispatchRole::Op, {x, packed, sums, y});

TEST(SetupRules, WeightsMayBePackedIntoScratchAndThatReadAgain) {
  EXPECT_EQ(broken_setup_rule(program({setup({w, packed}), setup({packed, sums}), product}), tensors()),
            std::nullopt);
}

TEST(SetupRules, OtherRolesBindWhatTheyLike) {
  EXPECT_EQ(broken_setup_rule(program({product}), tensors()), std::nullopt);
}

TEST(SetupRules, ActivationsAreRefusedByName) {
  EXPECT_THAT(
      broken_setup_rule(program({setup({w, packed}), setup({x, packed}), product}), tensors()),
      Optional(HasSubstr("setup dispatch 'pack' binds the input 'x', which differs from run to run")));
  Dispatch declared = setup({x, packed});
  declared.external.emplace();
  EXPECT_THAT(broken_setup_rule(program({setup({w, packed}), declared, product}), tensors()),
              Optional(HasSubstr("or declare `constant: true` if 'x' is a weight")))
      << "a manifest has no TensorSpec";
}

TEST(SetupRules, OutputsAreRefusedByName) {
  EXPECT_THAT(broken_setup_rule(program({setup({w, y})}), tensors()),
              Optional(HasSubstr("setup dispatch 'pack' binds the output 'y'")));
}

TEST(SetupRules, AnOutputIsNoConstantWhateverItDeclares) {
  std::vector<TensorSpec> declared = tensors();
  declared[2].constant = true;
  EXPECT_NE(broken_setup_rule(program({setup({y})}), declared), std::nullopt);
}

TEST(SetupRules, ScratchThatAnotherRoleHadBeforeIsRefused) {
  EXPECT_THAT(
      broken_setup_rule(program({product, setup({w, sums})}), tensors()),
      Optional(HasSubstr("setup dispatch 'pack' binds the scratch 'sums', which 'product' of the role "
                         "'op' binds before it")));
}

TEST(ConstantScratch, IsWhatSetupDispatchesBindEachOnce) {
  EXPECT_THAT(constant_scratch(program({setup({w, sums}), setup({sums, packed}), product})),
              ElementsAre(sums, packed));
  EXPECT_THAT(constant_scratch(program({product})), IsEmpty());
}

TensorSpec output(OutputClass output_class, DType dtype) {
  return {.name = "y",
          .role = TensorSpec::Role::Output,
          .dtype = dtype,
          .shape = {2},
          .output_class = output_class};
}

std::string complaint(OutputClass output_class, const Expected& expected, DType dtype) try {
  check_expected("matmul", output(output_class, dtype), expected);
  return "";
} catch (const std::logic_error& error) {
  return error.what();
}

std::string exact_complaint(const Expected& expected, DType dtype = DType::F32) {
  return complaint(OutputClass::Exact, expected, dtype);
}
std::string banded_complaint(const Expected& expected, DType dtype = DType::I8) {
  return complaint(OutputClass::Banded, expected, dtype);
}
std::string bounded_complaint(const Expected& expected, DType dtype = DType::F32) {
  return complaint(OutputClass::Bounded, expected, dtype);
}

const HostTensor floats = row<float>({1, 2});
const HostTensor bytes = row<std::int8_t>({1, 2});

TEST(CheckExpected, NamesOpOutputAndClass) {
  EXPECT_THAT(exact_complaint({.values = bytes}),
              AllOf(HasSubstr("matmul, output 'y' (exact)"), HasSubstr("i8 [2]"), HasSubstr("f32 [2]")));
}

TEST(CheckExpected, AnExactOutputHasValuesAlone) {
  EXPECT_EQ(exact_complaint({.values = floats}), "");
  EXPECT_THAT(exact_complaint({.values = floats, .bound = {1, 1}}), HasSubstr("it has bound"));
  EXPECT_THAT(exact_complaint({.values = floats, .magnitude = {1, 1}}), HasSubstr("it has magnitude"));
  EXPECT_THAT(exact_complaint({.values = floats, .unrounded = {1, 1}}), HasSubstr("it has unrounded"));
}

TEST(CheckExpected, ABoundedOutputNeedsBoundOrMagnitude) {
  EXPECT_EQ(bounded_complaint({.values = floats, .bound = {1, 1}}), "");
  EXPECT_EQ(bounded_complaint({.values = floats, .magnitude = {1, 1}}), "");
  EXPECT_EQ(bounded_complaint({.values = floats, .bound = {1, 1}, .magnitude = {1, 1}}), "");
  EXPECT_THAT(bounded_complaint({.values = floats}), HasSubstr("it has no bound or magnitude"));
  EXPECT_THAT(bounded_complaint({.values = floats, .bound = {1, 1}, .unrounded = {1, 2}}),
              HasSubstr("it has unrounded"));
}

TEST(CheckExpected, ABoundedOutputMayBeGivenAsDouble) {
  EXPECT_EQ(bounded_complaint({.values = row<double>({1, 2}), .bound = {1, 1}}), "");
  EXPECT_THAT(exact_complaint({.values = row<double>({1, 2})}), HasSubstr("f64 [2]"));
}

TEST(CheckExpected, ABandedOutputNeedsWhatItsBandIsMadeOf) {
  EXPECT_EQ(banded_complaint({.values = bytes, .magnitude = {1, 1}, .unrounded = {1, 2}}), "");
  EXPECT_THAT(banded_complaint({.values = bytes, .magnitude = {1, 1}}), HasSubstr("it has no unrounded"));
  EXPECT_THAT(banded_complaint({.values = bytes, .unrounded = {1, 2}}), HasSubstr("it has no magnitude"));
  EXPECT_THAT(banded_complaint({.values = floats, .magnitude = {1, 1}, .unrounded = {1, 2}}, DType::F32),
              HasSubstr("only integers"));
}

TEST(CheckExpected, EveryElementHasAnEntry) {
  EXPECT_THAT(bounded_complaint({.values = floats, .bound = {1}}),
              HasSubstr("bound has 1 entries for 2 elements"));
  EXPECT_THAT(banded_complaint({.values = bytes, .magnitude = {1, 1}, .unrounded = {1, 2, 3}}),
              HasSubstr("unrounded has 3 entries"));
  EXPECT_THAT(exact_complaint({.values = row<float>({1, 2, 3})}), HasSubstr("f32 [3]"));
}

TEST(CheckExpected, AnOutputThatIsWrittenInPartSaysWhatIsKept) {
  TensorSpec part = output(OutputClass::Exact, DType::F32);
  part.written_in_part = true;
  const auto complaint_about = [&part](const Expected& expected) -> std::string {
    try {
      check_expected("update", part, expected);
      return "";
    } catch (const std::logic_error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(complaint_about({.values = floats, .kept = {0, 1}}), "");
  EXPECT_THAT(complaint_about({.values = floats}), HasSubstr("it has no kept"));
  EXPECT_THAT(complaint_about({.values = floats, .kept = {1}}),
              HasSubstr("kept has 1 entries for 2 elements"));
  EXPECT_THAT(exact_complaint({.values = floats, .kept = {0, 1}}), HasSubstr("it has kept"));
  part.output_class = OutputClass::Bounded;
  EXPECT_THAT(complaint_about({.values = row<double>({1, 2}), .bound = {1, 1}, .kept = {0, 1}}),
              HasSubstr("its values must have the output's dtype"));
}

TEST(DataBefore, IsThatOfAnOutputThatBeginsWithIt) {
  TensorSpec in{.name = "y"};
  TensorSpec out = output(OutputClass::Exact, DType::F32);
  EXPECT_FALSE(is_data_before(std::vector{in, out}, 0));
  out.starts_as = 0;
  const std::vector<TensorSpec> in_place{in, out};
  EXPECT_TRUE(is_updated_in_place(in_place));
  EXPECT_FALSE(is_written_in_part(in_place));
  EXPECT_TRUE(is_data_before(in_place, 0));
  EXPECT_FALSE(is_data_before_part(in_place, 0));
  out.written_in_part = true;
  const std::vector<TensorSpec> in_part{in, out};
  EXPECT_FALSE(is_updated_in_place(in_part)) << "a second program finds nothing that it could use";
  EXPECT_TRUE(is_written_in_part(in_part));
  EXPECT_TRUE(is_data_before_part(in_part, 0));
  EXPECT_FALSE(is_data_before_part(in_part, 1));
}

TEST(CheckExpected, ABoundIsANumberThatIsNotNegative) {
  EXPECT_THAT(bounded_complaint({.values = floats, .bound = {1, -1}}), HasSubstr("bound has the entry -1"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(bounded_complaint({.values = floats, .magnitude = {nan, 1}}), HasSubstr("magnitude"));
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(bounded_complaint({.values = floats, .bound = {inf, 1}}), "");
}

}  // namespace

}  // namespace assay
