#pragma once

#include "harness/base/error.h"
#include "harness/op/op.h"

#include <filesystem>
#include <iosfwd>
#include <string>

namespace assay::app {

struct NewOpOptions {
  std::string name;
  std::filesystem::path root = ".";  ///< the source tree
};

/// Writes the files of a working op into the source tree, adds it to docs/ops.md and lists the written files
/// on `out`. Throws Error(Usage), before anything is written, for an invalid name, if a file already exists,
/// and if docs/ops.md is missing or has no table of ops.
ExitCode new_op(const NewOpOptions& options, const Registry& registry, std::ostream& out);

}  // namespace assay::app
