#pragma once

#include "harness/cases/case.h"
#include "harness/cases/select.h"
#include "harness/op/op.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// The options that select cases, shared by `run` and `list`.
struct CaseOptions {
  std::vector<std::filesystem::path> files;
  std::vector<std::filesystem::path> op_folders;  ///< --ops: folders of ops that manifests declare
  std::string filter;
  std::vector<std::string> impls;
  std::vector<std::string> ops;
  std::vector<std::string> tiers;
  std::string mode;  ///< "accu", "perf", or "both" and empty for all rows
  std::optional<std::uint64_t> seed;
  std::string shard;              ///< "2/8": the second part of eight; empty: all
  std::filesystem::path balance;  ///< report whose times are used to make the parts equally long; empty: none
  std::vector<std::string> values;  ///< --set: "KEY=VALUE", which replace values of the selected cases
  bool replays = false;             ///< --replay: see replayed_cases()
  bool nodes = false;               ///< the nodes of chains instead of all cases, see node_cases()
  std::filesystem::path times;      ///< report with the times of chains' nodes; empty: none
  std::vector<std::filesystem::path>
      expectations;  ///< folders or files with rules, in addition to those found

  /// The paths asked for, else the manifests of `op_folders`, else the folder of cases (in the current
  /// directory, else next to the binary). Folders inside `untrusted` (empty: none) are passed over. Throws
  /// Error if there is none, or if a path asked for is inside.
  std::vector<std::filesystem::path> paths(const std::filesystem::path& untrusted = {}) const;
  /// The files with rules about devices: those of `expectations` in the order given, and then those that
  /// belong to paths().
  std::vector<std::filesystem::path> expectation_files() const;
  /// Whether every case that a rule of this file may match is among the loaded case files. (A filter does not
  /// count: it chooses among the loaded cases.)
  bool has_all_cases(const std::filesystem::path& expectation_file,
                     std::span<const std::filesystem::path> loaded) const;
  Selection selection() const;
  std::vector<std::filesystem::path> manifests() const;
  /// Whether a filter, an op, an impl or a mode is given, the nodes of chains are taken, or cases are
  /// changed.
  bool is_narrowed() const;
  /// Whether only some cases are selected: by a filter, an op, an impl, a mode or a single case file. A tier
  /// does not count as such, as every tier is a set of cases that is run again and again.
  bool is_partial() const;
};

/// The files with rules in these places: a file itself, and the *.yaml files directly in a folder, sorted.
std::vector<std::filesystem::path> expectation_files(std::span<const std::filesystem::path> places);

/// Throws Error(Usage) saying that none of these cases is selected, by which options, and what may have been
/// meant.
[[noreturn]] void throw_nothing_selected(const CaseOptions& options, std::span<const Case> cases);

}  // namespace assay::app
