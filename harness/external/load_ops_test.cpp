#include "harness/external/load_ops.h"

#include "harness/cases/expansion/load.h"
#include "harness/external/manifest/manifest_schema.h"
#include "harness/tensor/fill/fill.h"
#include "tests/support/error_text.h"
#include "tests/support/small_op.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <random>
#include <set>
#include <sstream>

namespace assay::external {
namespace {

namespace fs = std::filesystem;
using namespace test;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* good = R"yaml(op: twice
summary: y = 2 x
params:
  n: {type: integer, min: 1}
  dtype: {type: choice, of: [f32, f16], default: f32}
  eps: {type: number, default: 0.5}
tensors:
  x: {dtype: dtype, shape: [n, 2]}
  y: {dtype: dtype, shape: [n, 2], role: output, class: bounded, tolerance: {abs: 0.5, rel: 0.25, ulp: 2, reason: test}}
work: {ops: 2 * x.elements}
reference: {python: ref.py}
impls:
  one:
    tunables: {local: [64, 32]}
    excludes:
      - {when: n > 1000, because: too many}
    scratch: {s: {dtype: i32, shape: [n + 1]}, c: {dtype: i32, shape: [1], zero: true}}
    dispatches:
      - shader: k.comp
        workgroups: ["ceil_div(n, local)"]
        push: {n: n, eps: eps}
        bind: {x: x, "1.2": s, y: y}
        defines: {T: {of: dtype, f32: float, f16: float16_t}, HALF: dtype == f16, WORD: {text: int}}
      - {label: last, shader: k.comp, when: n > 4}
cases:
  - {name: a, n: {each: [1, 5]}}
)yaml";

class LoadOpsTest : public ::testing::Test {
 protected:
  LoadOpsTest() {
    folder.write("twice/k.comp", "#version 450\nvoid main() {}\n");
    folder.write("twice/ref.py", "def twice(x):\n    return {'y': x * 2.0}\n");
  }

  LoadedOps load(const std::string& manifest) {
    folder.write("twice/op.yaml", manifest);
    return load_ops(std::array{folder / "twice"}, builtin);
  }

  /// The errors of a manifest that differs from the good one in one place, as users see them.
  std::string errors(const std::string& what, const std::string& with) {
    std::string text = good;
    const std::size_t at = text.find(what);
    if (at == std::string::npos) return "the manifest has no " + what;
    return errors_in(text.replace(at, what.size(), with));
  }

  /// The errors with another reference, where outputs have no class.
  std::string errors_with(const std::string& reference) {
    std::string text = good;
    const std::string bounded = "class: bounded, tolerance: {abs: 0.5, rel: 0.25, ulp: 2, reason: test}";
    text.replace(text.find(bounded), bounded.size(), "tolerance: {unit: 1.0e-6, reason: test}");
    const std::string python = "{python: ref.py}";
    return errors_in(text.replace(text.find(python), python.size(), reference));
  }

  std::string errors_in(const std::string& manifest) {
    std::string told;
    for (const Diagnostic& error : load(manifest).errors) told += to_string(error) + "\n";
    return told;
  }

  static Params params_of(std::int64_t n, const std::string& dtype = "f32") {
    Params params;
    params.set("n", n);
    params.set("dtype", dtype);
    params.set("eps", 0.5);
    return params;
  }

  static Program program(const Op& op, std::int64_t n, const std::string& dtype = "f32") {
    const Params params = params_of(n, dtype);
    const std::vector<TensorSpec> tensors = op.tensors(params);
    const std::vector<Form> forms(tensors.size());
    const DeviceInfo device;
    const Tune tune;
    return op.impls.front().build(BuildContext(params, tensors, forms, device, tune));
  }

  TemporaryFolder folder;
  Registry builtin{{}};
};

TEST_F(LoadOpsTest, MakesAnOpOfAManifest) {
  LoadedOps loaded = load(good);
  ASSERT_THAT(loaded.errors, IsEmpty());
  ASSERT_EQ(loaded.ops.size(), 1U);
  const Op& op = loaded.ops.front();
  EXPECT_EQ(op.name, "twice");
  EXPECT_EQ(op.params.size(), 3U);
  const Program made = program(op, 5, "f16");
  ASSERT_EQ(made.dispatches.size(), 2U);
  const Dispatch& first = made.dispatches.front();
  EXPECT_EQ(first.shader, "k.comp");
  EXPECT_EQ(first.label, "k");
  EXPECT_EQ(first.workgroups[0], 1U);
  ASSERT_TRUE(first.external);
  EXPECT_THAT(first.external->places, ElementsAre("x", "1.2", "y"));
  EXPECT_THAT(first.external->declared_at, HasSubstr("op.yaml:19:9"));
  EXPECT_EQ(first.bindings[1].resource, Resource::scratch(0));
  EXPECT_THAT(first.external->push, ElementsAre(NamedNumber{"n", std::int64_t{5}}, NamedNumber{"eps", 0.5}));
  const std::vector<Define> defines{{"DTYPE_F16", "1"}, {"T", "float16_t"}, {"HALF", "1"}, {"WORD", "int"}};
  EXPECT_EQ(first.defines, defines);
  EXPECT_EQ(made.scratch.front().shape, Shape{6});
  EXPECT_FALSE(made.scratch.front().is_zero_between_runs);
  EXPECT_TRUE(made.scratch.back().is_zero_between_runs);
  EXPECT_EQ(made.dispatches.back().label, "last");
  EXPECT_EQ(program(op, 4).dispatches.size(), 1U) << "'when' leaves the second out";
}

TEST_F(LoadOpsTest, ItsReferenceGivesABoundPerElement) {
  const LoadedOps loaded = load(good);
  ASSERT_THAT(loaded.errors, IsEmpty());
  const Params params = params_of(1);
  HostTensor x(DType::F32, {1, 2});
  x.as<float>()[1] = 3;
  const std::vector<Expected> expected = loaded.ops.front().reference(params, std::array{x});
  ASSERT_EQ(expected.size(), 1U);
  EXPECT_EQ(expected[0].values.at(1), 6);
  EXPECT_FLOAT_EQ(expected[0].bound[0], 0.5F);
  EXPECT_FLOAT_EQ(expected[0].bound[1], 0.5F + 1.5F + 2 * 0x1p-21F);
}

TEST_F(LoadOpsTest, WhatAPointExcludesOrTheDeviceLacksIsNamed) {
  const LoadedOps loaded = load(good);
  const Op& op = loaded.ops.front();
  const auto ask = [&](std::int64_t n, const DeviceInfo& device, const auto& about) {
    const Params params = params_of(n);
    const std::vector<TensorSpec> tensors = op.tensors(params);
    const std::vector<Form> forms(tensors.size());
    const Tune tune;
    return about(BuildContext(params, tensors, forms, device, tune));
  };
  const auto invalid = [&](const BuildContext& at) { return op.impls.front().invalid_reason(at); };
  const auto unsupported = [&](const BuildContext& at) { return op.impls.front().unsupported_reason(at); };
  EXPECT_EQ(ask(1001, {}, invalid), "too many");
  EXPECT_EQ(ask(1000, {}, invalid), std::nullopt);
  DeviceInfo small;
  small.max_workgroup_count[0] = 2;
  EXPECT_EQ(ask(129, small, unsupported),
            "dispatch 'k' needs 3 workgroups along x, maxComputeWorkGroupCount[0] is 2");
  EXPECT_EQ(ask(128, small, unsupported), std::nullopt);
}

TEST_F(LoadOpsTest, WhatIsUpdatedInPlaceIsAnInputAndAnOutput) {
  std::string text = good;
  const std::string what = "  y: {dtype: dtype, shape: [n, 2], role: output,";
  text.replace(text.find(what), what.size(),
               "  y: {dtype: dtype, shape: [n, 2], role: inout, domain: {lo: 1, hi: 4},");
  const LoadedOps loaded = load(text);
  ASSERT_EQ(loaded.ops.size(), 1U);
  const Params params = params_of(3);
  const std::vector<TensorSpec> tensors = loaded.ops[0].tensors(params);
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_TRUE(tensors[1].is_input());
  EXPECT_EQ(tensors[1].domain.hi, 4);
  EXPECT_EQ(tensors[2].starts_as, 1U);
  EXPECT_EQ(tensors[2].domain, FillDomain{}) << "its values may leave what they began in";
  EXPECT_EQ(program(loaded.ops[0], 3).dispatches[0].bindings[2].resource, Resource::tensor(2));
}

/// An index whose limit is a parameter had to be any up to a number.
TEST_F(LoadOpsTest, ADomainMayDependOnParameters) {
  const auto with_domain = [](const std::string& domain) {
    std::string text = good;
    const std::string x = "x: {dtype: dtype, shape: [n, 2]";
    return text.replace(text.find(x), x.size(), x + ", domain: " + domain);
  };
  const LoadedOps loaded = load(with_domain("{role: index, lo: 0.5, hi: \"n * 2 - 1\"}"));
  ASSERT_THAT(loaded.errors, IsEmpty());
  const FillDomain domain = loaded.ops.front().tensors(params_of(4))[0].domain;
  EXPECT_EQ(domain.role, FillRole::Index);
  EXPECT_EQ(domain.lo, 0.5);
  EXPECT_EQ(domain.hi, 7);
  EXPECT_THAT(errors_in(with_domain("{lo: 0, hi: m}")),
              HasSubstr("op.yaml:8:56: error: 'm' is unknown here"));
  const LoadedOps empty = load(with_domain("{lo: 0, hi: n - 2}"));
  ASSERT_THAT(empty.errors, IsEmpty());
  EXPECT_THAT(error_of([&] { empty.ops.front().tensors(params_of(1)); }),
              HasSubstr("op.yaml:8:56: the domain of 'x' is from 0 to -1 here, which is empty"));
}

/// From 0 to 0 stood for no range, and a gather of one row read anywhere.
TEST_F(LoadOpsTest, IntegersOfARangeOfOneValueHaveIt) {
  const auto domain_of_x = [this](const std::string& domain, std::int64_t n) {
    std::string text = good;
    const std::string x = "x: {dtype: dtype, shape: [n, 2]";
    const LoadedOps loaded =
        load(text.replace(text.find(x), x.size(), "x: {dtype: i32, shape: [n, 2], domain: " + domain));
    EXPECT_THAT(loaded.errors, IsEmpty());
    return loaded.ops.at(0).tensors(params_of(n)).at(0).domain;
  };
  const auto values = [](const FillDomain& domain) {
    const HostTensor made = make_filled(DType::I32, {64}, {}, domain, {});
    const auto all = made.as<std::int32_t>();
    return std::set<std::int32_t>(all.begin(), all.end());
  };
  EXPECT_THAT(values(domain_of_x("{lo: 0, hi: \"n - 1\"}", 1)), ElementsAre(0));
  EXPECT_THAT(values(domain_of_x("{lo: 0, hi: 0}", 1)), ElementsAre(0));
  EXPECT_THAT(values(domain_of_x("{lo: 0, hi: \"n - 1\"}", 2)), ElementsAre(0, 1));
  EXPECT_EQ(domain_of_x("{role: data}", 1), FillDomain{}) << "no range";
}

/// The error of an op whose reference is `flip` with these further parameters.
class FlippedOp : public LoadOpsTest {
 protected:
  std::string error_with(const std::string& turn, const std::string& zero_point = "0") {
    Op flip = flip_op();
    flip.params.push_back(boolean("turn"));
    flip.params.push_back(qparams("q"));
    folder.write("flipped/k.comp", "#version 450\nvoid main() {}\n");
    folder.write("flipped/op.yaml",
                 "op: flipped\n"
                 "params: {n: {type: integer, min: 1}}\n"
                 "tensors:\n"
                 "  x: {dtype: i8, shape: [n]}\n"
                 "  y: {dtype: i8, shape: [n], role: output}\n"
                 "reference: {op: flip, with: {shape: [n], turn: " +
                     turn + ", q: {scale: 1, zero_point: " + zero_point +
                     "}}}\n"
                     "impls:\n"
                     "  plain: {dispatches: [{shader: k.comp, workgroups: [n], bind: {x: x, y: y}}]}\n"
                     "cases:\n"
                     "  - {name: a, n: 3}\n");
    const LoadedOps loaded = load_ops(std::array{folder / "flipped"}, Registry(std::vector<Op>{flip}));
    if (!loaded.errors.empty()) return to_string(loaded.errors.front());
    Params params;
    params.set("n", std::int64_t{3});
    try {
      loaded.ops.at(0).tensors(params);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
};

TEST_F(FlippedOp, TakesTrueFalseAndConditionsAsBooleans) {
  for (const char* turn : {"true", "false", "n == 3", "0", "1"}) EXPECT_EQ(error_with(turn), "") << turn;
  EXPECT_THAT(
      error_with("flase"),
      AllOf(HasSubstr("op.yaml:6:"), HasSubstr("'turn' must be true, false or a parameter, got 'flase'")));
  EXPECT_THAT(error_with("n + 2"), HasSubstr("'turn' must be true, false, 0 or 1, got 5"));
}

/// 2^32 + 3 became 3.
TEST_F(FlippedOp, TakesZeroPointsOf32Bits) {
  EXPECT_EQ(error_with("true", "3"), "");
  EXPECT_THAT(error_with("true", "4294967299"),
              HasSubstr("the zero point of 'q' must be an integer of 32 bits, got 4294967299"));
}

TEST_F(LoadOpsTest, ReferencesOfOtherKindsAreStrict) {
  EXPECT_THAT(errors_with("{op: nothing}"), HasSubstr("unknown op of assay 'nothing'"));
  EXPECT_THAT(errors_with("{op: nothing, wth: {}}"), HasSubstr("did you mean 'with'?"));
  EXPECT_THAT(errors_with("{op: nothing, with: 3}"), HasSubstr("'with' must be a map"));
  EXPECT_THAT(errors_with("{op: nothing, with: {q: {scale: 1}}}"), HasSubstr("has no 'zero_point'"));
  EXPECT_THAT(errors_with("{op: nothing, with: {a: n + m}}"), HasSubstr("'m' is unknown here"));
  EXPECT_THAT(errors_with("{op: nothing, tensors: {x: z}}"), HasSubstr("unknown tensor 'z'"));
  EXPECT_THAT(errors("{python: ref.py}", "{op: nothing}"), HasSubstr("has the class of the op that answers"));
  EXPECT_THAT(errors("{python: ref.py}", "case"), HasSubstr("or `cases` where each case brings its answers"));
}

TEST_F(LoadOpsTest, ErrorsHaveTheirPlace) {
  EXPECT_THAT(errors("shader: k.comp", "shder: k.comp"),
              AllOf(HasSubstr("op.yaml:19:9: error: a dispatch has no 'shader'"),
                    HasSubstr("unknown key 'shder'"), HasSubstr("did you mean 'shader'?")));
  EXPECT_THAT(
      errors("\"ceil_div(n, local)\"", "\"ceil_div(n, lokal)\""),
      AllOf(HasSubstr("op.yaml:20:35: error: 'lokal' is unknown here"), HasSubstr("did you mean 'local'?")));
  EXPECT_THAT(errors("\"ceil_div(n, local)\"", "\"n + \""),
              HasSubstr("op.yaml:20:27: error: 'workgroups': the expression ends where a value is missing"));
  EXPECT_THAT(errors("\"ceil_div(n, local)\"", "\"1 + ceil(n, local)\""),
              AllOf(HasSubstr("op.yaml:20:27: "), HasSubstr("there is no function 'ceil'")));
  EXPECT_THAT(errors("\"ceil_div(n, local)\"", "\"ceil_div(n)\""), HasSubstr("ceil_div takes two values"));
  EXPECT_THAT(errors("dtype == f16", "dtype == f61"), HasSubstr("'f61' is no choice of 'dtype'"));
  EXPECT_THAT(errors("[\"ceil_div(n, local)\"]", "[x.shape[0], 1]"),
              HasSubstr("an expression with a bracket or a comma must be quoted"));
  EXPECT_THAT(errors("\"ceil_div(n, local)\"", "ceil_div(n, local)"),
              HasSubstr("an expression with a bracket or a comma must be quoted"));
  EXPECT_THAT(errors("class: bounded, ", ""), HasSubstr("the tensor 'y' has floats and no 'class': write"));
  EXPECT_THAT(
      errors("class: bounded, tolerance: {abs: 0.5, rel: 0.25, ulp: 2, reason: test}", "class: bounded"),
      HasSubstr("the tensor 'y' is bounded and has no 'tolerance'"));
  EXPECT_THAT(errors(", reason: test", ""), HasSubstr("a tolerance needs a 'reason'"));
  EXPECT_THAT(errors("role: output", "role: input_output"), HasSubstr("inout"));
  EXPECT_THAT(errors("role: output,", "role: inout, forms: [buffer/WP],"), HasSubstr("unknown key 'forms'"));
  EXPECT_THAT(errors("role: output, ", ""), HasSubstr("unknown key 'class'"));
  EXPECT_THAT(errors("{x: x, \"1.2\"", "{x: z, \"1.2\""), HasSubstr("unknown tensor or scratch 'z'"));
  EXPECT_THAT(errors("dtype: dtype, shape: [n, 2]}\n  y", "dtype: float, shape: [n, 2]}\n  y"),
              HasSubstr("unknown dtype or choice parameter 'float'"));
  EXPECT_THAT(errors("  n: {type: integer", "  fill: {type: integer"),
              HasSubstr("'fill' is a key of the case language"));
  EXPECT_THAT(errors("  n: {type: integer, min: 1}", "  n: {type: integer, min: 3, max: 2}"),
              HasSubstr("no value is at least 3 (min) and at most 2 (max)"));
  EXPECT_THAT(
      errors("  n: {type: integer, min: 1}", "  n: {type: integer}\n  f: {type: number, min: 2, max: 1.5}"),
      HasSubstr("no value is at least 2 (min) and at most 1.5 (max)"));
  EXPECT_THAT(errors("of: [f32, f16]", "of: [f32, f16, f32]"),
              HasSubstr("op.yaml:5:40: error: the choice 'dtype' has the word 'f32' twice"));
  EXPECT_THAT(errors("local: [64, 32]", "local: [64, 32, 64]"),
              HasSubstr("op.yaml:14:32: error: 'local' has the value 64 twice"));
  EXPECT_THAT(errors("local: [64, 32]", "local: [64, -32]"),
              HasSubstr("op.yaml:14:28: error: a tunable is at least 0, and this is -32"));
  EXPECT_THAT(errors("local: [64, 32]", "local: {min: -4, max: 8, default: 4}"),
              HasSubstr("op.yaml:14:29: error: a tunable is at least 0, and this is -4"));
  EXPECT_THAT(errors("  x: {dtype", "  n: {dtype"), HasSubstr("'n' is a parameter, too"));
  EXPECT_EQ(errors("WORD: {text: int}", "\"LOAD(b, i)\": {text: \"b[i]\"}"), "");
  folder.write("twice/k.spv", "");
  EXPECT_THAT(errors("shader: k.comp", "shader: k.spv"),
              HasSubstr("op.yaml:23:9: error: a module is compiled, and cannot have #defines"));
  EXPECT_THAT(errors("WORD: {text", "\"A B\": {text"), HasSubstr("'A B' cannot be #defined"));
  EXPECT_THAT(errors("{text: int}", "{text: \"a\\nb\"}"), HasSubstr("the text of a #define is one line"));
  EXPECT_THAT(errors("  x: {dtype", "  y_bound: {dtype: f32, shape: [n]}\n  x: {dtype"),
              HasSubstr("'y_bound' is what a reference calls its bound of 'y'"));
  EXPECT_THAT(errors("dtype == f16", "\"dtype == 'f61'\""), HasSubstr("'f61' is no choice of 'dtype'"));
  EXPECT_THAT(errors("{s: {dtype", "{y: {dtype"), HasSubstr("'y' is a tensor, too"));
  EXPECT_THAT(errors("  x: {dtype", "  device: {dtype"), HasSubstr("'device' has a meaning in expressions"));
  EXPECT_THAT(
      errors("{dtype: dtype, shape: [n, 2]}", "{dtype: dtype, shape: [n, 2], domain: {lo: 2, hi: 1}}"),
      HasSubstr("begins after its end"));
  EXPECT_THAT(errors("[\"ceil_div(n, local)\"]", "[]"),
              HasSubstr("must be a list of one to three integers or expressions, got an empty list"));
  EXPECT_THAT(errors("[\"ceil_div(n, local)\"]", "[1, 2, 3, 4]"), HasSubstr("got a list of 4"));
  EXPECT_THAT(errors("  one:", "  all:"), HasSubstr("'all' stands for every impl of an op"));
  EXPECT_THAT(errors("  one:", "  auto:"), HasSubstr("'auto' stands for the impl that assay chooses"));
}

/// Where no cases are read they were ignored, and keys of chains everywhere.
TEST_F(LoadOpsTest, UnknownKeysAtTheTopAreErrors) {
  EXPECT_THAT(errors("summary:", "summry:"), AllOf(HasSubstr("op.yaml:2:1: error: unknown key 'summry'"),
                                                   HasSubstr("did you mean 'summary'?")));
  EXPECT_THAT(errors("impls:", "imples:"), AllOf(HasSubstr("op.yaml:12:1: error: unknown key 'imples'"),
                                                 HasSubstr("did you mean 'impls'?")));
  EXPECT_THAT(errors("summary: y", "nodes: []\nsummary: y"),
              HasSubstr("op.yaml:2:1: error: unknown key 'nodes'"));
  EXPECT_THAT(errors("summary: y", "outputs: []\nsummary: y"),
              HasSubstr("op.yaml:2:1: error: unknown key 'outputs'"));
}

/// The keys that a message lists as known.
std::set<std::string> known_keys(const std::string& message) {
  std::set<std::string> keys;
  const std::size_t begin = message.find("known: ") + 7;
  std::stringstream words(message.substr(begin, message.find('\n', begin) - begin));
  for (std::string word; std::getline(words >> std::ws, word, ',');) keys.insert(word);
  return keys;
}

std::set<std::string> properties(const nlohmann::json& schema) {
  std::set<std::string> names;
  for (const auto& [name, value] : schema.at("properties").items()) names.insert(name);
  return names;
}

TEST_F(LoadOpsTest, TheSchemaHasTheKeysThatAreRead) {
  const nlohmann::json schema = nlohmann::json::parse(manifest_schema());
  const nlohmann::json& parts = schema.at("definitions");
  const auto keys = [&](const std::string& what, const std::string& with) {
    return known_keys(errors(what, with));
  };
  EXPECT_EQ(keys("shader: k.comp\n", "shader: k.comp\n        zzzzzz: 1\n"),
            properties(parts.at("dispatch")));
  EXPECT_EQ(keys("    tunables:", "    zzzzzz: 1\n    tunables:"), properties(parts.at("impl")));
  EXPECT_EQ(keys("summary:", "zzzzzz: 1\nsummary:"), properties(schema));
  EXPECT_EQ(keys("{s: {dtype", "{s: {zzzzzz: 1, dtype"),
            properties(parts.at("impl").at("properties").at("scratch").at("additionalProperties")));
  EXPECT_EQ(keys("{ops: 2", "{zzzzzz: 1, ops: 2"), properties(schema.at("properties").at("work")));
  EXPECT_EQ(keys("{python: ref.py", "{zzzzzz: 1, python: ref.py"),
            properties(schema.at("properties").at("reference").at("oneOf").at(0)));
  EXPECT_EQ(known_keys(errors_with("{zzzzzz: 1, op: nothing}")),
            properties(schema.at("properties").at("reference").at("oneOf").at(1)));
  std::set<std::string> of_tolerances = keys("{abs: 0.5", "{zzzzzz: 1, abs: 0.5");
  of_tolerances.insert("unit");  // where another op answers
  EXPECT_EQ(of_tolerances, properties(parts.at("tensor").at("properties").at("tolerance")));
  std::set<std::string> of_tensors =
      keys("{dtype: dtype, shape: [n, 2], role", "{zzzzzz: 1, dtype: dtype, shape: [n, 2], role");
  of_tensors.insert("constant");  // of inputs alone
  EXPECT_EQ(of_tensors, properties(parts.at("tensor")));
  std::set<std::string> of_params = keys("{type: integer,", "{type: integer, zzzzzz: 1,");
  of_params.insert({"rank", "of"});  // of other types
  EXPECT_EQ(of_params, properties(parts.at("param")));
}

TEST_F(LoadOpsTest, PathsStayInTheFolderAndExist) {
  folder.write("outside.comp", "");
  folder.write("outside.py", "");
  EXPECT_THAT(errors("shader: k.comp", "shader: missing.comp"), HasSubstr("there is no file 'missing.comp'"));
  EXPECT_THAT(errors("shader: k.comp", "shader: ../outside.comp"),
              HasSubstr("must be below the manifest's folder"));
  EXPECT_THAT(errors("shader: k.comp", "shader: /etc/passwd"),
              HasSubstr("must be below the manifest's folder"));
  EXPECT_THAT(errors("shader: k.comp", "shader: ref.py"),
              HasSubstr("a shader is a file .comp (GLSL) or .spv"));
  EXPECT_THAT(errors("python: ref.py", "python: ../outside.py"),
              HasSubstr("must be below the manifest's folder"));
  fs::create_symlink(folder / "outside.py", folder / "twice/link.py");
  EXPECT_THAT(errors("python: ref.py", "python: link.py"), HasSubstr("must be below the manifest's folder"));
}

TEST_F(LoadOpsTest, HostileManifestsAreErrors) {
  EXPECT_THAT(errors("\"ceil_div(n, local)\"", "\"" + std::string(3000, '(') + "\""),
              HasSubstr("nested at most 64"));
  EXPECT_THAT(errors("good", "x"), HasSubstr("no good"));
  EXPECT_THAT(errors("  one:", "  one: &a {dispatches: [*a]}\n  two:"), HasSubstr("error"));
  const LoadedOps large = load([] {
    std::string text = good;
    text.replace(text.find("[n + 1]"), 7, "[n, 1099511627776]");
    return text;
  }());
  ASSERT_THAT(large.errors, IsEmpty());
  EXPECT_THAT(error_of([&] { program(large.ops.front(), 2); }),
              HasSubstr("the scratch 's' has more than 2^40 elements"));
  const LoadedOps many = load([] {
    std::string text = good;
    text.replace(text.find("ceil_div(n, local)"), 18, "1000000000000000000");
    return text;
  }());
  const DeviceInfo device;
  const Params params = params_of(1);
  const std::vector<TensorSpec> tensors = many.ops.front().tensors(params);
  const std::vector<Form> forms(tensors.size());
  const Tune tune;
  EXPECT_EQ(
      many.ops.front().impls.front().unsupported_reason(BuildContext(params, tensors, forms, device, tune)),
      "dispatch 'k' needs 1000000000000000000 workgroups along x, maxComputeWorkGroupCount[0] is 65535");
}

TEST_F(LoadOpsTest, NegativeWorkIsAnErrorWithItsPlace) {
  std::string text = good;
  text.replace(text.find("2 * x.elements"), 14, "x.elements - 9");
  const LoadedOps loaded = load(text);
  ASSERT_THAT(loaded.errors, IsEmpty());
  const Op& op = loaded.ops.front();
  const auto work_of = [&](int n) { return op.work(params_of(n), op.tensors(params_of(n))); };
  EXPECT_EQ(work_of(5).operations, 1);
  EXPECT_THAT(error_of([&] { work_of(1); }),
              HasSubstr("op.yaml:10:13: 'x.elements - 9' is -7: work must not be negative"));
}

TEST_F(LoadOpsTest, AnyBrokenManifestIsAnOpOrAnError) {
  std::mt19937 random(7);
  const std::string pieces = "[]{}:,\"'&*-#\n 0123456789nxyabc()+*/%<>=.";
  int refused = 0;
  constexpr int rounds = 1500;
  for (int round = 0; round < rounds; ++round) {
    std::string text = good;
    for (std::size_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      const std::size_t length = random() % 8;
      const std::size_t other = random() % text.size();
      text.replace(
          at, random() % 4,
          random() % 2 == 0 ? std::string(1, pieces[random() % pieces.size()]) : text.substr(other, length));
    }
    const LoadedOps loaded = load(text);
    EXPECT_EQ(loaded.ops.empty(), !loaded.errors.empty()) << text;
    refused += loaded.ops.empty() ? 1 : 0;
    for (const Op& op : loaded.ops) {
      const std::string ended = error_of([&] {
        if (op.params.size() == 3) program(op, 5);
      });
      EXPECT_EQ(ended.find("internal"), std::string::npos) << ended;
    }
  }
  EXPECT_GT(refused, rounds / 4);
  EXPECT_LT(refused, rounds);
}

TEST_F(LoadOpsTest, TheCasesOfAManifestAreThoseOfItsOpAlone) {
  LoadedOps loaded = load(good);
  const Registry registry(std::move(loaded.ops));
  const LoadResult cases = load_cases(std::array{folder / "twice"}, registry);
  ASSERT_THAT(cases.errors, IsEmpty());
  ASSERT_EQ(cases.cases.size(), 2U);
  EXPECT_EQ(cases.cases[1].id, "twice/a/5/one");
  const LoadResult refused = load_cases(std::array{folder / "twice"}, builtin);
  ASSERT_EQ(refused.errors.size(), 1U);
  EXPECT_THAT(
      to_string(refused.errors.front()),
      HasSubstr("the file declares the op 'twice', whose reference is a program: if you trust it, give its "
                "folder with --ops"));
  fs::copy(folder / "twice", folder / "copy", fs::copy_options::recursive);
  const LoadResult other = load_cases(std::array{folder / "copy"}, registry);
  EXPECT_EQ(other.errors.size(), 1U) << "another folder was trusted";
}

TEST_F(LoadOpsTest, AnOpHasOnePlace) {
  Op known;
  known.name = "twice";
  known.files = {"ops/twice.cpp"};
  const Registry with_it({known});
  folder.write("twice/op.yaml", good);
  const LoadedOps refused = load_ops(std::array{folder / "twice"}, with_it);
  ASSERT_EQ(refused.errors.size(), 1U);
  EXPECT_EQ(refused.errors.front().message,
            "'twice' is an op of assay, declared in ops/twice.cpp: name this one otherwise");
  fs::copy(folder / "twice", folder / "copy", fs::copy_options::recursive);
  const LoadedOps both = load_ops(std::array{folder.path()}, builtin);
  EXPECT_EQ(both.ops.size(), 1U);
  ASSERT_EQ(both.errors.size(), 1U);
  EXPECT_THAT(both.errors.front().message, HasSubstr("the op 'twice' is already declared in"));
  EXPECT_EQ(load_ops(std::array{folder / "twice", folder / "copy/../twice"}, builtin).errors.size(), 0U);
}

TEST_F(LoadOpsTest, AFolderWithoutAManifestIsAnError) {
  fs::create_directory(folder / "empty");
  EXPECT_THAT(load_ops(std::array{folder / "empty"}, builtin).errors.at(0).message,
              HasSubstr("there is no op.yaml in this folder or in one directly below it"));
  EXPECT_THAT(load_ops(std::array{folder / "missing"}, builtin).errors.at(0).message,
              HasSubstr("No such file"));
}

TEST_F(LoadOpsTest, LinkedFoldersAreRefusedAndReportsDoNotCount) {
  const std::string before = load(good).ops.front().answer_version();
  folder.write("twice/assay-out/run.csv", "1");
  folder.write("twice/.git/HEAD", "1");
  EXPECT_EQ(load(good).ops.front().answer_version(), before);
  folder.write("elsewhere/m.py", "");
  fs::create_directory_symlink(folder / "elsewhere", folder / "twice/lib");
  EXPECT_THAT(error_of([&] { load(good).ops.front().answer_version(); }), HasSubstr("is a link to a folder"));
}

TEST_F(LoadOpsTest, AnswersAreOfOtherFilesWhenTheFolderChanges) {
  const std::string before = load(good).ops.front().answer_version();
  folder.write("twice/ref.py", "def twice(x):\n    return {'y': x * 2}\n");
  const std::string after = load(good).ops.front().answer_version();
  EXPECT_NE(before, after);
  fs::copy(folder / "twice", folder / "copy", fs::copy_options::recursive);
  EXPECT_EQ(load_ops(std::array{folder / "copy"}, builtin).ops.front().answer_version(), after);
  EXPECT_THAT(after, HasSubstr("NumPy"));
}

}  // namespace
}  // namespace assay::external
