#include "harness/commands/fuzz/shrink.h"

#include "harness/commands/points/with_params.h"
#include "harness/commands/points/written_cases.h"
#include "ops/registry.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace assay::app {
namespace {

using ::testing::HasSubstr;

const Registry& shrunk_ops() {
  static const Registry made = ops::registry();
  return made;
}

Case case_of(const std::string& op_name, Params params) {
  const Op& op = *shrunk_ops().find(op_name);
  for (const ParamSpec& spec : op.params) {
    if (!params.has(spec.name)) params.set(spec.name, spec.default_for(params).value());
  }
  Case made;
  made.op = &op;
  made.impl = &op.impls.back();
  made.params = params;
  made.tensors = op.tensors(params);
  for (const TensorSpec& tensor : *made.tensors) {
    made.forms.push_back(tensor.forms.back());
    if (tensor.is_input()) made.fills.edit()[tensor.name] = {.kind = FillKind::Outlier};
  }
  for (const Tunable& tunable : made.impl->tunables) made.tune[tunable.name] = tunable.max;
  return made;
}

Case relu_case(std::vector<std::int64_t> shape = {3, 1, 65, 130}) {
  Params params;
  params.set("shape", std::move(shape));
  params.set("x", QParams{0.0123F, -77});
  params.set("y", QParams{0.0456F, 12});
  return case_of("q8ta_relu", params);
}

/// The smallest case of which `fails` is true.
Shrunk shrunk_by(const Case& from, const std::function<bool(const Case&)>& fails) {
  const StillFails each = [&](std::span<const Case> cases) {
    std::vector<bool> all;
    for (const Case& one : cases) all.push_back(fails(one));
    return all;
  };
  return shrink(from, each, [] { return false; });
}

std::string smallest_text(const Case& from, const std::function<bool(const Case&)>& fails) {
  return short_case_file(shrunk_by(from, fails).smallest, "c");
}

TEST(Shrink, LeavesNothingButWhatTheFailureNeeds) {
  EXPECT_EQ(smallest_text(relu_case(), [](const Case&) { return true; }),
            "op: q8ta_relu\ncases:\n"
            "  - {name: c, shape: [1], x: {scale: 1, zero_point: 0}, y: {scale: 1, zero_point: 0}}\n");
}

TEST(Shrink, FindsTheEdgeOfASize) {
  const auto fails = [](const Case& one) { return one.params->ints("shape").back() > 33; };
  EXPECT_THAT(smallest_text(relu_case(), fails), HasSubstr("shape: [34],"));
}

TEST(Shrink, KeepsATailAndAZeroPoint) {
  const auto fails = [](const Case& one) {
    const auto& dims = one.params->ints("shape");
    return dims.size() >= 2 && dims[dims.size() - 2] % 4 == 1 && dims[dims.size() - 2] > 4 &&
           one.params->qparams("x").zero_point < 0;
  };
  const std::string text = smallest_text(relu_case(), fails);
  EXPECT_THAT(text, HasSubstr("shape: [5, 1], x: {scale: 1, zero_point: -1}, y: {scale: 1, zero_point: 0}}"));
}

TEST(Shrink, MakesOneDimOfTwo) {
  const auto fails = [](const Case& one) { return numel(one.params->ints("shape")) == 135; };
  EXPECT_THAT(smallest_text(relu_case({5, 1, 27}), fails), HasSubstr("shape: [135],"));
}

TEST(Shrink, KeepsTheRemainderByEight) {
  const auto fails = [](const Case& one) {
    const std::int64_t size = one.params->ints("shape").back();
    return size > 16 && size % 8 == 5;
  };
  EXPECT_THAT(smallest_text(relu_case({1, 269}), fails), HasSubstr("shape: [21],"));
}

TEST(Shrink, PrefersDefaultsAndShortNumbers) {
  Params params;
  params.set("shape", std::vector<std::int64_t>{3, 7});
  params.set("quant_min", std::int64_t{-3});
  params.set("quant_max", std::int64_t{11});
  EXPECT_EQ(smallest_text(case_of("quantize_per_tensor", params), [](const Case&) { return true; }),
            "op: quantize_per_tensor\ncases:\n  - {name: c, shape: [1]}\n");
  Params added;
  for (const char* name : {"a", "b", "y"}) added.set(name, QParams{0.0123F, 4});
  added.set("shape", std::vector<std::int64_t>{5});
  added.set("b_shape", std::vector<std::int64_t>{5});
  added.set("alpha", -1.2676506002282294e+30);
  const auto fails = [](const Case& one) { return one.params->number("alpha") < -1.5; };
  EXPECT_THAT(smallest_text(case_of("q8ta_add", added), fails), HasSubstr("alpha: -2,"));
}

TEST(Shrink, KeepsTheFillTheFormAndTheTunableThatMatter) {
  const Case from = relu_case();
  const Form form = from.forms.back();
  const std::string tunable = from.impl->tunables.front().name;
  const auto fails = [&](const Case& one) {
    return one.forms.back() == form && one.tune.contains(tunable) &&
           one.fills->at("x").kind == FillKind::Outlier;
  };
  const std::string text = smallest_text(from, fails);
  EXPECT_THAT(text, HasSubstr("forms: {y: " + to_string(form) + "}"));
  EXPECT_THAT(text, HasSubstr("fill: {x: outlier}"));
  EXPECT_THAT(text, HasSubstr("tune: {" + tunable + ": "));
  EXPECT_LE(std::ranges::count(text, '\n'), 6);
}

TEST(Shrink, KeepsTheNumberOfElementsOfAView) {
  Params params;
  params.set("shape", std::vector<std::int64_t>{12, 10});
  params.set("new_shape", std::vector<std::int64_t>{15, 8});
  const auto fails = [](const Case& one) {
    return numel(one.params->ints("shape")) > 9 && one.params->ints("shape") != one.params->ints("new_shape");
  };
  const Shrunk shrunk = shrunk_by(case_of("view", params), fails);
  EXPECT_TRUE(fails(shrunk.smallest));
  EXPECT_LE(numel(shrunk.smallest.params->ints("shape")), 15);
}

TEST(Shrink, TriesNothingOnceItMustStop) {
  const StillFails none = [](std::span<const Case> cases) { return std::vector<bool>(cases.size(), true); };
  const Shrunk shrunk = shrink(relu_case(), none, [] { return true; });
  EXPECT_EQ(shrunk.tried, 0U);
  EXPECT_EQ(short_case_file(shrunk.smallest, "c"), short_case_file(relu_case(), "c"));
}

TEST(Simplifications, AreCasesThatTheOpAccepts) {
  Params params;
  for (const auto& [name, value] : {std::pair{"C", 6}, {"H", 9}, {"W", 7}, {"OC", 4}, {"groups", 2}})
    params.set(name, std::int64_t{value});
  params.set("kernel", std::vector<std::int64_t>{3, 2});
  params.set("padding", std::vector<std::int64_t>{2, 1});
  params.set("x", QParams{0.02F, 5});
  const Op& op = *shrunk_ops().find("q8ta_conv2d");
  Params all;
  for (const ParamSpec& spec : op.params)
    all.set(spec.name, params.has(spec.name) ? params.at(spec.name) : spec.default_for(all).value());
  const Case from = case_of("q8ta_conv2d", all);
  std::size_t accepted = 0;
  for (const Edit& edit : simplifications(from)) {
    const std::optional<Case> made = edit.apply(from);
    if (!made) continue;
    ++accepted;
    EXPECT_EQ(made->forms.size(), made->tensors->size()) << edit.place;
    EXPECT_EQ(*made->tensors, op.tensors(made->params)) << edit.place;
  }
  EXPECT_GE(accepted, 20U);
}

}  // namespace
}  // namespace assay::app
