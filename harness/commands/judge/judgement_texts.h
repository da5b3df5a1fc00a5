#pragma once

#include "harness/commands/judge/judgement.h"
#include "harness/commands/judge/options.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// Version of the JSON that `assay judge` writes (docs/judge.md): raised when a field changes its meaning or
/// is removed; adding a field does not raise it.
inline constexpr int judge_schema = 2;

/// A file that a judgement depends on.
struct HashedFile {
  std::string path;
  std::string hash;  ///< of its bytes
};

/// Hashes a file. Throws Error if it cannot be read.
HashedFile hashed_file(const std::filesystem::path& path);

/// The circumstances of a judgement.
struct JudgeFacts {
  std::string version;  ///< version of assay
  DeviceInfo device;
  bool has_ceilings = false;  ///< times were compared with the device's measured ceilings
  std::uint64_t secret_seed = 0, draw_seed = 0;
  std::string submission;  ///< the folder that was given
  std::string hash;
  std::vector<std::string> files, unchanged;
  std::size_t cases = 0, selected = 0, mattering = 0;  ///< counts of the repository's cases
  std::vector<std::string> ops;                        ///< whose SPIR-V the submission changes
  std::size_t accuracy_of = 0, performance_of = 0;     ///< rows that each stage was drawn from
  std::vector<HashedFile> case_files;  ///< from which rows were chosen, and those that were drawn
  std::string folder;                  ///< output folder of the judgement
  double seconds = 0;
};

std::string judgement_json(const Judgement& judgement, const JudgeFacts& facts, const JudgeOptions& options);

/// A line for each row with a reason or a time, and the verdict, for people. `color`: with ANSI escape
/// sequences.
std::string judgement_text(const Judgement& judgement, const JudgeFacts& facts, bool color);

}  // namespace assay::app
