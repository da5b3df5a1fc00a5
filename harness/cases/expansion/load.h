#pragma once

#include "harness/cases/case.h"
#include "harness/cases/expansion/load_options.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/op/op.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

struct LoadResult {
  std::vector<Case> cases;         ///< in the order of files, cases in them and points of their products
  std::vector<Diagnostic> errors;  ///< if there is any, the run ends with exit code 2
  std::vector<std::filesystem::path> files;  ///< all files that were read or should have been, with includes
  /// Hashes of the values of the arrays that cases name, by "a.npy" or "b.npz[x]".
  std::map<std::string, std::string> arrays;
  std::shared_ptr<const chain::NodeTimes> node_times;  ///< as in the options of app::load(), else null
};

/// Reads case files (cases/README.md describes the language) and expands them into cases, each checked
/// against its op's declaration. A directory stands for all *.yaml below it, sorted, without those in folders
/// named `expectations`. A file is read once, however often it is named or included. Each error becomes a
/// Diagnostic and hides no other: bad files, cases and points leave the good ones in the result. Never throws
/// on bad input. The cases point into `registry`, which must outlive them. Throws std::logic_error if an op
/// declares a parameter whose name is a key of the case language.
LoadResult load_cases(std::span<const std::filesystem::path> files_or_directories, const Registry& registry,
                      const LoadOptions& options = {});

}  // namespace assay
