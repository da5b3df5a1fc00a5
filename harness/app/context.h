#pragma once

#include "harness/op/op.h"
#include "harness/report/console/console.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace assay::app {

/// What reports say of the binary that wrote them.
struct BuildInfo {
  std::string version;     ///< "0.1.0+b1a8850ccc06"
  std::string compiler;    ///< "GNU 12.2.0"
  std::string build_type;  ///< "Release"
  /// Hash of the code that references' answers depend on; empty: not known.
  std::string reference_code{};
};

/// What commands that know ops are given.
struct Context {
  const Registry& registry;
  std::vector<std::string> command_line;
  BuildInfo build{};
  std::vector<std::string> shader_compiler{};  ///< as gpu::ShaderOptions::compiler
  std::vector<std::string> worker{};           ///< starts a process that calls serve_worker()
};

/// Where a command writes. Nothing in this module writes anywhere else but into files.
struct Terminal {
  std::ostream& out;     ///< results
  std::ostream& log;     ///< progress and notes
  std::ostream& errors;  ///< what is wrong in files that were read
  ConsoleOptions console{};
};

}  // namespace assay::app
