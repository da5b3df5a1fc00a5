#pragma once

#include "harness/base/error.h"
#include "harness/op/op.h"

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace assay::app {

struct NewOpOptions {
  std::string name;
  std::filesystem::path root = ".";  ///< the source tree; of an external op the folder for its own
  bool external = false;             ///< a folder with a manifest, which needs no source tree
};

/// Writes the files of a working op into the source tree and adds it to docs/ops.md, or writes a folder of
/// its own with a manifest. Lists the written files on `out`. Throws Error(Usage), before anything is
/// written, for an invalid name, if a file already exists, and if docs/ops.md is missing or has no table of
/// ops.
ExitCode new_op(const NewOpOptions& options, const Registry& registry, std::ostream& out);

/// A file that `assay new-op` writes. The word NEW_OP stands for the op's name, in path and text.
struct NewFile {
  std::string path;  ///< below the source tree
  std::string text;
};

/// The files of a working op, from harness/commands/new_op/templates/.
std::vector<NewFile> new_op_templates();

/// The files of a working op that a manifest declares.
std::vector<NewFile> external_op_templates();

/// The op's entry in docs/ops.md (harness/cases/describe/describe.h).
struct NewOpEntry {
  std::string row;
  std::string section;
};
NewOpEntry new_op_entry();

}  // namespace assay::app
