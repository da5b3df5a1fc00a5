#pragma once

#include "harness/cases/case.h"
#include "harness/cases/describe/describe.h"

#include <span>
#include <string>

namespace assay {

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
