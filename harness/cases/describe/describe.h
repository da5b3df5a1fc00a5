#pragma once

#include "harness/cases/case.h"
#include "harness/op/op.h"
#include "harness/op/params.h"

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// The files of an op, as paths from the root of the source tree; they need not exist on this machine.
struct OpFiles {
  std::vector<std::string> cases;    ///< "cases/clone.yaml", then the others, sorted
  std::vector<std::string> sources;  ///< the declaration, then what it shares with its family, sorted
  std::vector<std::string>
      references;  ///< sorted: "references/relayout/relayout.cpp", "references/relayout/relayout.h"
  std::vector<std::string> shaders;  ///< sorted: "shaders/relayout/relayout.comp"; without included files
};

/// Returns the path of a kernel from the root of the source tree: of "relayout.comp",
/// "shaders/relayout/relayout.comp".
using ShaderPath = std::function<std::string(const std::string& name)>;

/// Returns an op's files. Sources and references come from the registry (Op::files). Case files and shaders
/// come from `cases` and from the programs that their points lead to
/// (harness/cases/describe/reachable_programs.h), so there are none without cases.
OpFiles files_of(const Op& op, std::span<const Case> cases, const ShaderPath& shader_path);

/// Prints `assay list`: one id per line. `details` adds mode, tier, file:line, model and layer, and the
/// layout of CONV2D.
void list_cases(std::span<const Case* const> cases, bool details, std::ostream& out);

/// Returns `assay ops`: one op per line, with its summary.
std::string list_ops(const Registry& registry);

/// Returns `assay ops NAME`: parameters with type, range, default and meaning; impls with needs and tunables.
/// An op's tensors depend on its parameters, so they are shown for `example`, a case of this op, if there is
/// one.
std::string describe_op(const Op& op, const Case* example = nullptr);

/// Returns the part of `assay ops NAME` about the op's files, one per line. `includes` are the files of
/// shaders/ that its shaders include.
std::string describe_files(const OpFiles& files, std::span<const std::string> includes);

/// Returns `assay schema`: a JSON Schema (draft 2020-12) of case files, for completion and checks in editors.
std::string schema_json(const Registry& registry);

/// The command that writes docs/ops.md; run it in the root of the source tree.
inline constexpr const char* ops_page_command = "build/release/assay ops --markdown > docs/ops.md";

/// Returns docs/ops.md: a table of all ops by name, then a section for each with its parameters, its impls
/// and their needs, and its files. `cases` are those of the folder cases/, which determine the files;
/// `shader_path` names them (files_of).
std::string ops_page(const Registry& registry, std::span<const Case> cases, const ShaderPath& shader_path);

/// Returns the page with one more op, whose table row and section are inserted by name. `row` and `section`
/// are whole lines, as ops_page writes them. Throws Error(Usage) if the text is not such a page or already
/// has the op.
std::string with_op_added(const std::string& page, const std::string& name, const std::string& row,
                          const std::string& section);

}  // namespace assay

namespace assay::cases {

/// Texts for the documentation of a parameter, besides its name and meaning.
std::string type_text(const ParamSpec& param);     ///< "shape", "integer", "qparams"
std::string limits_text(const ParamSpec& param);   ///< "1..64", "f32 | f16"; empty: any value of the type
std::string default_text(const ParamSpec& param);  ///< "required", "default 2", "has a default"

}  // namespace assay::cases
