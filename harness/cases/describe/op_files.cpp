#include "harness/cases/describe/op_files.h"

#include "harness/cases/describe/reachable_programs.h"

#include <algorithm>
#include <set>

namespace assay {
namespace {

using Paths = std::set<std::string>;

std::vector<std::string> sorted(const Paths& paths) {
  return {paths.begin(), paths.end()};
}

Paths case_files_of(const Op& op, std::span<const Case> cases) {
  Paths paths;
  for (const Case& test_case : cases) {
    if (test_case.op == &op) paths.insert(test_case.where->file);
  }
  return paths;
}

Paths shaders_of(const Op& op, std::span<const Case> cases, const ShaderPath& shader_path) {
  Paths names, paths;
  each_reachable_program(op, cases, contrasting_devices(), [&](const Program& program, const BuildContext&) {
    for (const Dispatch& dispatch : program.dispatches) names.insert(dispatch.shader);
  });
  for (const std::string& name : names) paths.insert(shader_path(name));
  return paths;
}

}  // namespace

OpFiles files_of(const Op& op, std::span<const Case> cases, const ShaderPath& shader_path) {
  OpFiles files{.cases = sorted(case_files_of(op, cases)),
                .shaders = sorted(shaders_of(op, cases, shader_path))};
  const auto is_own = [&](const std::string& path) { return path == "cases/" + op.name + ".yaml"; };
  std::stable_partition(files.cases.begin(), files.cases.end(), is_own);
  for (const std::string& path : op.files) {
    (path.starts_with("references/") ? files.references : files.sources).push_back(path);
  }
  return files;
}

}  // namespace assay
