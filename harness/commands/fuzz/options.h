#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// The options of `assay fuzz`.
struct FuzzOptions {
  std::vector<std::string> ops;                   ///< names or globs; empty: all
  std::vector<std::filesystem::path> op_folders;  ///< --ops: folders of ops that manifests declare
  double seconds = 60;                            ///< for drawing and running points
  double shrink_seconds = 60;                     ///< for making one failure smaller
  std::optional<std::uint64_t> seed;              ///< absent: drawn at random
  bool keep_going = false;                        ///< look for other failures after the first
  std::string device;                             ///< see `assay run --device`
  std::filesystem::path out = "assay-out/fuzz";
  std::filesystem::path shaders;  ///< see `assay run --shaders`
  double hang_limit_s = 60;       ///< silence of a worker that counts as hanging
  double memory_limit_gib = 8;    ///< for each worker; 0: none
  bool verbose = false;
};

}  // namespace assay::app
