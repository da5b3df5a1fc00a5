#pragma once

#include "harness/cases/case.h"

#include <span>
#include <string>

namespace assay {

/// The command that writes docs/ops.md, at the root of the source tree.
inline constexpr const char* ops_page_command = "build/release/assay ops --markdown > docs/ops.md";

/// docs/ops.md: a table of all ops by name, then a section for each, with its parameters, its impls and what
/// they need, and its files. `cases` are those of the folder cases/, for the files (files_of).
std::string ops_page(const Registry& registry, std::span<const Case> cases);

/// The page with one more op, its row of the table and its section put where its name belongs. `row` and
/// `section` are whole lines, as ops_page writes them. Throws Error(Usage) for a text that is no such page,
/// or that has the op already.
std::string with_op_added(const std::string& page, const std::string& name, const std::string& row,
                          const std::string& section);

}  // namespace assay
