#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// What `assay judge` is told.
struct JudgeOptions {
  std::filesystem::path submission;          ///< folder of GLSL files, as --shaders takes it
  std::vector<std::filesystem::path> cases;  ///< files or folders; empty: as `assay run` finds them
  std::vector<std::string> ops;
  std::string filter;
  std::filesystem::path
      baseline;               ///< folder of the shaders that it is held against; empty: the embedded ones
  std::string baseline_impl;  ///< impl that it is held against; empty: the same impl
  std::string json;           ///< file, "-" for stdout, empty: none
  std::filesystem::path out = "assay-out/judge";
  std::string device;           ///< as `assay run --device`
  int rows = 10;                ///< at most so many of each stage
  double budget_s = 0.3;        ///< of sampling, for each timed row
  double time_limit_s = 300;    ///< of all
  double hang_limit_s = 30;     ///< a worker that is silent for so long hangs
  double memory_limit_gib = 8;  ///< of the worker; 0: none
  std::string ceilings = "stored";
  std::optional<std::uint64_t> secret_seed;  ///< nothing: drawn
  std::optional<std::uint64_t> draw_seed;    ///< of fuzzed shapes and of the choice of rows; nothing: drawn
  bool verbose = false;
};

}  // namespace assay::app
