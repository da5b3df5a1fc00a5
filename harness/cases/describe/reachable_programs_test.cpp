#include "harness/cases/describe/reachable_programs.h"

#include "harness/cases/describe/describe.h"

#include <gmock/gmock.h>

#include <map>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

Impl impl_of(std::string name, std::vector<Feature> needs) {
  Impl impl{.name = std::move(name), .needs = std::move(needs)};
  impl.build = [shader = impl.name](const BuildContext& context) {
    Dispatch dispatch;
    dispatch.shader = shader + ".comp";
    dispatch.defines = {{"X", to_string(context.forms[0])},
                        {"LOCAL", std::to_string(context.tuned("local_size", 0))}};
    return Program{.dispatches = {dispatch}};
  };
  return impl;
}

/// An op with one tensor in two buffer layouts or a 2D texture, which holds one plane. `plain` accepts all;
/// `shuffling` needs a feature and excludes HP.
Op sample_op() {
  Op op{.name = "sample", .params = {shape("shape")}};
  op.tensors = [](const Params& params) {
    const std::vector<Form> forms{
        {Storage::Buffer, Layout::WP}, {Storage::Buffer, Layout::HP}, {Storage::Texture2D, Layout::WP}};
    return std::vector<TensorSpec>{{.name = "x", .shape = params.ints("shape"), .forms = forms}};
  };
  op.impls = {impl_of("plain", {}), impl_of("shuffling", {Feature::SubgroupShuffle})};
  op.impls[1].invalid_reason = [](const ImplPoint& point) {
    return point.forms[0].layout == Layout::HP ? std::optional<std::string>("no") : std::nullopt;
  };
  op.impls.push_back(
      {.name = "auto", .choose = [](const BuildContext&) { return std::vector<std::string>{"plain"}; }});
  op.files = {"ops/some/sample.cpp", "ops/some/shared.h", "references/sample.h"};
  return op;
}

Case case_of(const Op& op, Shape dims, const std::string& file) {
  Case test_case{.op = &op, .impl = &op.impls[0]};
  test_case.params.edit().set("shape", std::move(dims));
  test_case.where.edit().file = file;
  return test_case;
}

std::map<std::string, int> counted(const Op& op, const std::vector<Case>& cases,
                                   const std::vector<DeviceInfo>& devices) {
  std::map<std::string, int> count;
  each_reachable_program(op, cases, devices, [&](const Program& program, const BuildContext&) {
    const Dispatch& dispatch = program.dispatches.at(0);
    ++count[dispatch.shader + " " + dispatch.defines[0].value + " " + dispatch.defines[1].value];
  });
  return count;
}

TEST(ReachablePrograms, TakeEveryFormThatHoldsTheTensorsAndIsNotExcluded) {
  const Op op = sample_op();
  DeviceInfo device;
  device.features = {Feature::SubgroupShuffle};
  EXPECT_THAT(
      counted(op, {case_of(op, {4, 4}, "")}, {device}),
      UnorderedElementsAre(Pair("plain.comp buffer/WP 0", 1), Pair("plain.comp buffer/HP 0", 1),
                           Pair("plain.comp texture2d/WP 0", 1), Pair("shuffling.comp buffer/WP 0", 1),
                           Pair("shuffling.comp texture2d/WP 0", 1)));
  EXPECT_FALSE(counted(op, {case_of(op, {2, 4, 4}, "")}, {device}).contains("plain.comp texture2d/WP 0"));
}

TEST(ReachablePrograms, LeaveOutDevicesWithoutWhatAnImplNeeds) {
  const Op op = sample_op();
  const auto count = counted(op, {case_of(op, {4}, "")}, {DeviceInfo{}});
  EXPECT_TRUE(count.contains("plain.comp buffer/WP 0"));
  EXPECT_FALSE(count.contains("shuffling.comp buffer/WP 0"));
}

TEST(ReachablePrograms, AreThoseOfEachTuningAndOfEachPointOnce) {
  const Op op = sample_op();
  const Case plain = case_of(op, {4}, "");
  Case tuned = plain;
  tuned.tune["local_size"] = 7;
  const auto count = counted(op, {plain, plain, tuned, tuned}, {DeviceInfo{}});
  EXPECT_EQ(count.at("plain.comp buffer/WP 0"), 1);
  EXPECT_EQ(count.at("plain.comp buffer/WP 7"), 1);
}

TEST(ReachablePrograms, OfAnOpAreNotThoseOfOthers) {
  const Op op = sample_op();
  const Op other = sample_op();
  EXPECT_TRUE(counted(op, {case_of(other, {4}, "")}, {DeviceInfo{}}).empty());
}

TEST(OpFiles, AreThoseOfTheRegistryItsCasesAndItsPrograms) {
  const Op op = sample_op();
  const Op other = sample_op();
  const std::vector<Case> cases{case_of(op, {4}, "cases/models/sample.yaml"),
                                case_of(op, {5}, "cases/sample.yaml"),
                                case_of(other, {4}, "cases/other.yaml")};
  const ShaderPath shader_path = [](const std::string& name) { return "shaders/family/" + name; };
  const OpFiles files = files_of(op, cases, shader_path);
  EXPECT_THAT(files.cases, ElementsAre("cases/sample.yaml", "cases/models/sample.yaml"));
  EXPECT_THAT(files.sources, ElementsAre("ops/some/sample.cpp", "ops/some/shared.h"));
  EXPECT_THAT(files.references, ElementsAre("references/sample.h"));
  EXPECT_THAT(files.shaders, ElementsAre("shaders/family/plain.comp", "shaders/family/shuffling.comp"));
  EXPECT_TRUE(files_of(op, {}, shader_path).shaders.empty());
}

}  // namespace
}  // namespace assay
