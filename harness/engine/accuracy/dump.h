#pragma once

#include "harness/base/error.h"
#include "harness/engine/accuracy/accuracy.h"
#include "harness/gpu/gpu.h"
#include "harness/op/program.h"

#include <filesystem>
#include <string>

namespace assay {

/// Thrown when a dump cannot be written: no row is to blame, and none can be dumped.
class DumpFailed : public Error {
 public:
  explicit DumpFailed(const std::string& why) : Error(why, ExitCode::Infrastructure) {}
};

/// The folder of a row below `root`: the row's id with each / replaced by -. Ids have no -, so every id has a
/// folder of its own. Created when missing. Throws DumpFailed.
std::filesystem::path dump_folder(const std::filesystem::path& root, std::string id);

/// Writes a case's tensors as .npy into `folder`: NAME.npy (inputs), NAME.got.npy, NAME.expected.npy and
/// NAME.error.npy (f64, got - expected) for each output. Throws DumpFailed.
void dump_tensors(const std::filesystem::path& folder, const Case& test_case, const DataSet& data,
                  const AccuracyOutcome& assessment);

/// Writes each dispatch's SPIR-V into `folder` as N.LABEL.spvasm: a disassembly that begins with comments on
/// the shader, its defines, workgroups and constants. Throws DumpFailed, and gpu::CompileError for
/// a shader that does not compile.
void dump_program(const std::filesystem::path& folder, const Program& program, gpu::ShaderLibrary& shaders);

}  // namespace assay
