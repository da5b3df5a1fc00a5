#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// The options of `assay judge`.
struct JudgeOptions {
  std::filesystem::path submission;  ///< folder of GLSL files, as for --shaders
  /// Files or folders; empty: those that `assay run` finds, outside of the submission.
  std::vector<std::filesystem::path> cases;
  std::vector<std::filesystem::path> op_folders;  ///< --ops: folders of ops that manifests declare
  std::vector<std::string> ops;
  std::string filter;
  std::filesystem::path
      baseline;               ///< folder of the shaders that it is compared with; empty: the embedded ones
  std::string baseline_impl;  ///< impl that it is compared with; empty: the same impl
  std::string json;           ///< file, "-" for stdout, empty: none
  std::filesystem::path out = "assay-out/judge";
  std::string device;           ///< see `assay run --device`
  int rows = 10;                ///< maximum number of rows per stage
  double budget_s = 0.3;        ///< seconds of sampling for each timed row
  double time_limit_s = 300;    ///< for the whole judgement
  double hang_limit_s = 30;     ///< silence of a worker that counts as hanging
  double memory_limit_gib = 8;  ///< for the worker; 0: none
  std::string ceilings = "stored";
  std::optional<std::uint64_t> secret_seed;  ///< absent: drawn at random
  std::optional<std::uint64_t>
      draw_seed;  ///< for fuzzed shapes and the choice of rows; absent: drawn at random
  bool verbose = false;
};

}  // namespace assay::app
