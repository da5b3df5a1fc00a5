#pragma once

#include "harness/engine/accuracy/accuracy.h"
#include "harness/gpu/gpu.h"
#include "harness/op/program.h"

#include <filesystem>
#include <string>

namespace assay {

/// The folder below `root` that belongs to a row: its id with - for /, which no id holds, so that no two ids
/// share one. Created when missing. Throws Error(Infrastructure).
std::filesystem::path dump_folder(const std::filesystem::path& root, std::string id);

/// Writes a case's tensors as .npy into `folder`: NAME.npy (inputs), NAME.got.npy, NAME.expected.npy and
/// NAME.error.npy (f64, got - expected) of each output. Throws Error(Infrastructure).
void dump_tensors(const std::filesystem::path& folder, const Case& test_case, const DataSet& data,
                  const AccuracyOutcome& assessment);

/// Writes what each dispatch runs into `folder`: N.LABEL.spvasm, the disassembly of its SPIR-V below comments
/// that name the shader, its defines, its workgroups and its constants. Throws Error(Infrastructure), and
/// gpu::CompileError for a shader that does not compile.
void dump_program(const std::filesystem::path& folder, const Program& program, gpu::ShaderLibrary& shaders);

}  // namespace assay
