#include "harness/cases/describe/reachable_programs.h"
#include "harness/cases/expansion/load.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/program/interface_check.h"
#include "harness/gpu/program/specialization.h"
#include "ops/cases_of_op_test_support.h"
#include "ops/neighbours_test.h"
#include "ops/registry.h"
#include "tests/support/drawn.h"
#include "tests/support/on_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>

// Checks that every variant of every shader that the cases in cases/ reach, and that points next to them
// reach, is valid SPIR-V for Vulkan 1.1, which the library checks of whatever it compiles, and matches its
// program. Nothing is listed: a new op is covered by
// its own cases. They are ten thousand variants, of which scripts/test.sh draws a quarter by the commit.

namespace assay::ops {
namespace {

using namespace test;

constexpr std::size_t most_push_words = 32;  // 128 bytes, which every device takes

/// What a variant of a shader compiles to.
struct Module {
  gpu::SpirvOutline outline;
  std::vector<gpu::DeclaredConstant> constants;
};
/// One variant in five compiles to the same SPIR-V as another one: each module is read once.
using Modules = std::map<std::string, Module>;  ///< by hash

/// All cases, which the tests of a process share, since each op's loading would cost a second.
struct TreeCases {
  const Registry ops = registry();
  const LoadResult loaded = load_cases(std::vector<std::filesystem::path>{ASSAY_SOURCE_DIR "/cases"}, ops);
};

const TreeCases& tree_cases() {
  static const TreeCases cases;
  return cases;
}

/// Compares programs with their shaders as a device with high limits would, and collects their variants.
/// Programs are many and differ only in sizes: those seen before are not looked at again.
class InterfaceChecks {
 public:
  explicit InterfaceChecks(gpu::ShaderLibrary& shaders) : shaders_(shaders) {}

  void check(const Program& program, const BuildContext& context) {
    std::vector<Physical> tensors;
    std::string forms;
    for (std::size_t i = 0; i < context.tensors.size(); ++i) {
      tensors.push_back(context.physical(i));
      forms += to_string(tensors.back().form()) + " ";
    }
    if (!programs_.insert(forms + key(program)).second) return;
    DeviceInfo device = context.device;
    device.max_shared_bytes = 1U << 20;
    for (const Program& part : parts_of(program)) {
      if (!is_drawn(part)) continue;
      if (!parts_.insert(forms + key(part)).second) continue;
      EXPECT_NO_THROW(gpu::check_interfaces(part, tensors, interfaces_of(part), device));
      for (const Dispatch& dispatch : part.dispatches)
        EXPECT_LE(dispatch.push.words().size(), most_push_words) << dispatch.shader;
    }
  }

  std::size_t programs() const { return programs_.size(); }

 private:
  /// Dispatches depend on each other only through set-up: taken separately they are fewer different ones.
  static std::vector<Program> parts_of(const Program& program) {
    const auto is_setup = [](const Dispatch& dispatch) { return dispatch.role == DispatchRole::Setup; };
    if (std::ranges::any_of(program.dispatches, is_setup)) return {program};
    std::vector<Program> parts;
    for (const Dispatch& dispatch : program.dispatches)
      parts.push_back({.scratch = program.scratch, .dispatches = {dispatch}});
    return parts;
  }

  static std::string variant_of(const Dispatch& dispatch) {
    std::string text = dispatch.shader;
    for (const Define& define : dispatch.defines) text += " " + define.name + "=" + define.value;
    return text;
  }

  /// By the variant that does the work: set-up has few variants, and would draw most programs in.
  static bool is_drawn(const Program& part) {
    const auto works = [](const Dispatch& dispatch) { return dispatch.role != DispatchRole::Setup; };
    const auto working = std::ranges::find_if(part.dispatches, works);
    return working == part.dispatches.end() || drawn(variant_of(*working), 4);
  }

  std::vector<gpu::ShaderInterface> interfaces_of(const Program& program) {
    std::vector<gpu::ShaderInterface> interfaces;
    for (const Dispatch& dispatch : program.dispatches) {
      const Module& module = module_of(dispatch);
      interfaces.push_back(
          gpu::interface_of(module.outline, gpu::specialization(dispatch, module.constants, /*guard=*/0)));
    }
    return interfaces;
  }

  const Module& module_of(const Dispatch& dispatch) {
    const Module*& module = variants_[variant_of(dispatch)];
    if (module == nullptr) module = &compiled(dispatch);
    return *module;
  }

  const Module& compiled(const Dispatch& dispatch) {
    const gpu::Spirv& spirv = shaders_.compile(dispatch.shader, dispatch.defines);
    const auto known = modules_.find(spirv.hash);
    if (known != modules_.end()) return known->second;
    return modules_
        .emplace(spirv.hash, Module{.outline = gpu::SpirvOutline(spirv.words, "a variant"),
                                    .constants = gpu::declared_constants(spirv.words)})
        .first->second;
  }

  /// Everything in a program's dispatches that the checks look at, apart from tensors.
  static std::string key(const Program& program) {
    std::string text;
    for (const Dispatch& dispatch : program.dispatches) {
      text += fmt::format("\n{} {} {} {} {}", variant_of(dispatch), fmt::join(dispatch.local_size, " "),
                          dispatch.push.words().size(), dispatch.shared_bytes, dispatch.bindings.size());
      for (const SpecConstant& set : dispatch.constants) {
        text += " " + set.name;
        if (dispatch.shared_bytes != 0) text += fmt::format(":{}", set.value);  // they decide only its size
      }
    }
    return text;
  }

  gpu::ShaderLibrary& shaders_;
  std::unordered_set<std::string> programs_, parts_;  ///< programs and parts seen so far
  Modules modules_;
  std::map<std::string, const Module*> variants_;  ///< by shader and defines
};

// Each variant costs a compilation: nightly rows and points next to the cases are tried only on the least and
// the most capable device.
void check_programs(const Op& op, std::vector<Case> cases, InterfaceChecks& interfaces) {
  const auto check = [&](const Program& program, const BuildContext& context) {
    interfaces.check(program, context);
  };
  const std::vector<DeviceInfo> devices = contrasting_devices();
  const std::span<const DeviceInfo> extremes = std::span(devices).first(2);
  each_reachable_program(op, neighbours(op, cases), extremes, check);
  const auto nightly = std::stable_partition(
      cases.begin(), cases.end(), [](const Case& test_case) { return test_case.tier != Tier::Nightly; });
  each_reachable_program(op, std::span(nightly, cases.end()), extremes, check);
  each_reachable_program(op, std::span(cases.begin(), nightly), devices, check);
}

/// The parameter: an op's name.
class Shaders : public testing::TestWithParam<std::string> {
 protected:
  const Op& op = *tree_cases().ops.find(GetParam());
};

TEST_P(Shaders, AreReachedByCasesValidAndOfOneMindWithTheirPrograms) {
  for (const Diagnostic& error : tree_cases().loaded.errors) ADD_FAILURE() << to_string(error);
  gpu::ShaderLibrary shaders(
      {.directories = {ASSAY_SOURCE_DIR "/shaders"}, .cache_directory = gpu::default_cache_directory()});
  InterfaceChecks interfaces(shaders);
  check_programs(op, tree_cases().loaded.cases, interfaces);
  EXPECT_GT(interfaces.programs(), 0U)
      << "no case of the op '" << op.name << "' builds a program, so none of its "
      << "shaders is tested: write cases/" << op.name << ".yaml (cases/README.md is the language)";
}

INSTANTIATE_TEST_SUITE_P(OfOp, Shaders, testing::ValuesIn(test::names_of_ops()),
                         [](const auto& of_op) { return of_op.param; });

}  // namespace
}  // namespace assay::ops
