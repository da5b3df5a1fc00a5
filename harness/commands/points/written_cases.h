#pragma once

#include "harness/cases/case.h"
#include "harness/op/op.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// Whether the parameter has its default, or the value that is derived from the others.
bool is_default(const ParamSpec& spec, const Params& params);

/// Whether case_yaml() can say all of the case: none of its data comes from files.
bool is_writable(const Case& one);

/// The case under another name as an entry of the list `cases:` of a file: its parameters, impl, forms,
/// fills, tunables, timeout and, if it is timed, mode and cache. Parameters with their derived values are
/// left out. Data from files, the tolerance and the seed are not written. Ends in a newline.
std::string case_yaml(const Case& one, const std::string& name);

/// A whole case file with this case alone, as short as possible: defaults are left out, and the settings are
/// written one after the other, in lines of at most 100 columns where they fit.
std::string short_case_file(const Case& one, const std::string& name);

/// Cases that were drawn for a judgement, in case files of their own.
struct DrawnCases {
  std::vector<std::filesystem::path> files;  ///< one per op
  std::vector<Case> cases;                   ///< as loaded from the files
};

/// Drawn cases of one op on their way through a case file, so that they pass the same checks as any case.
class Candidates {
 public:
  /// `registry` must outlive this and the cases that it returns.
  Candidates(const Registry& registry, std::filesystem::path file)
      : registry_(registry), file_(std::move(file)) {}

  /// A candidate as it was loaded.
  struct Loaded {
    Case loaded;
    std::size_t number = 0;  ///< index in the list that was given
  };

  /// The candidates that are valid cases, in order; all are of one op. Overwrites the file.
  std::vector<Loaded> valid(std::span<const Case> candidates) const;

  /// Writes these cases, named NAME_1, NAME_2, ..., and returns them as loaded. `pairs`: two consecutive ones
  /// have the same name, as they differ in their impl. Without any the file is removed.
  std::vector<Case> keep(std::span<const Case> cases, const std::string& name, bool pairs = false) const;

 private:
  std::vector<Loaded> write_and_load(std::span<const Case> cases, const std::string& name,
                                     std::size_t of_a_name) const;

  const Registry& registry_;
  std::filesystem::path file_;
};

}  // namespace assay::app
