#pragma once

#include "harness/cases/case.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// The files of an op, as paths from the root of the source tree; they need not exist on this machine.
struct OpFiles {
  std::vector<std::string> cases;    ///< "cases/clone.yaml", then the others, sorted
  std::vector<std::string> sources;  ///< the declaration, then what it shares with its family, sorted
  std::vector<std::string>
      references;  ///< sorted: "references/relayout/clone.cpp", "references/relayout/clone.h"
  std::vector<std::string> shaders;  ///< sorted: "shaders/relayout/copy.comp"; without included files
};

/// Returns the path of a kernel from the root of the source tree: of "copy.comp",
/// "shaders/relayout/copy.comp".
using ShaderPath = std::function<std::string(const std::string& name)>;

/// Returns an op's files. Sources and references come from the registry (Op::files). Case files and shaders
/// come from `cases` and from the programs that their points lead to
/// (harness/cases/describe/reachable_programs.h), so there are none without cases.
OpFiles files_of(const Op& op, std::span<const Case> cases, const ShaderPath& shader_path);

}  // namespace assay
