#pragma once

#include "harness/op/op.h"
#include "harness/report/console/console.h"

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// The facts about the binary that reports contain.
struct BuildInfo {
  std::string version;     ///< "0.1.0+b1a8850ccc06"
  std::string compiler;    ///< "GNU 12.2.0"
  std::string build_type;  ///< "Release"
  /// Hash of the code that references' answers depend on; empty: unknown.
  std::string reference_code{};
};

struct RunOptions;

/// Parses a command line "assay", "run", ... Throws Error(Usage).
using ParseRun = std::function<RunOptions(const std::vector<std::string>& command)>;

/// The context of commands that need the ops.
struct Context {
  const Registry& registry;  ///< must outlive this, except with_ops()'s, which `own_registry` keeps
  std::vector<std::string> command_line;
  BuildInfo build{};
  std::vector<std::string> shader_compiler{};  ///< see gpu::ShaderOptions::compiler
  std::vector<std::string> worker{};           ///< command that starts a process which calls serve_worker()
  std::vector<std::string> trial_worker{};     ///< command that starts a process which calls serve_trials()
  /// Reads the options of a run from its command line, which is how journals and workers are given them.
  ParseRun parse_run{};
  std::shared_ptr<const Registry> own_registry{};
};

/// The streams that a command writes to. This module writes only to these and to files.
struct Terminal {
  std::ostream& out;     ///< results
  std::ostream& log;     ///< progress and notes
  std::ostream& errors;  ///< errors in files that were read
  ConsoleOptions console{};
};

/// Returns the context with the ops that the manifests in these folders declare, too; the given one if there
/// is no folder. Throws Error(Usage) with all errors of the manifests.
Context with_ops(const Context& context, std::span<const std::filesystem::path> folders);

}  // namespace assay::app
