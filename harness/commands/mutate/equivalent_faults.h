#pragma once

#include "harness/commands/mutate/fault_result.h"

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// A fault of which a person says that no row can show it.
struct EquivalentFault {
  std::string id;
  std::string file;
  std::string kind;
  std::string line_hash;
  std::string reason;
  int where = 0;  ///< its line in the list
};

/// Reads a list of equivalent faults (docs/faults.md). Throws Error with the place for what is no such list:
/// a key that is missing or unknown, an empty reason, a fault that is listed twice.
std::vector<EquivalentFault> read_equivalent_faults(const std::filesystem::path& file);

/// Marks survivors that are listed, with the reason.
void mark_equivalent(std::span<const EquivalentFault> listed, std::vector<FaultRecord>& records);

/// What is wrong with the list: entries whose fault or line is no longer in the sources, and entries whose
/// fault a row has killed. `all` are the faults of all files that were looked at, `sources` all files.
std::vector<std::string> wrong_entries(std::span<const EquivalentFault> listed,
                                       std::span<const mutation::Fault> all,
                                       std::span<const FaultRecord> records,
                                       const std::set<std::string>& sources);

}  // namespace assay::app
