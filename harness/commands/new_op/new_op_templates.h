#pragma once

#include <string>
#include <vector>

namespace assay::app {

/// A file that `assay new-op` writes. The word NEW_OP stands for the op's name, in path and text.
struct NewFile {
  std::string path;  ///< below the source tree
  std::string text;
};

/// The files of a working op, from harness/commands/new_op/templates/.
std::vector<NewFile> new_op_templates();

/// The op's entry in docs/ops.md (harness/cases/describe/ops_page.h).
struct NewOpEntry {
  std::string row;
  std::string section;
};
NewOpEntry new_op_entry();

}  // namespace assay::app
