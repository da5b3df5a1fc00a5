#pragma once

#include "harness/commands/mutate/trial_rows.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/shader_sources.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace assay::app {

/// The shaders with a fault in one file.
class Mutant {
 public:
  struct Folders {
    std::filesystem::path scratch;  ///< for files of this process
    std::filesystem::path shaders;  ///< sources before the embedded ones; empty: none
  };

  /// Writes the file into the scratch folder. `without_fault` must outlive this.
  Mutant(const Folders& folders, const std::string& file, const std::string& text,
         gpu::ShaderLibrary& without_fault);

  gpu::ShaderLibrary& shaders() { return shaders_; }
  /// Lets the program's kernels from outside find the file with the fault, whatever folder it is in.
  void take_into(Program& program) const;
  /// Whether the SPIR-V of one of the variants differs. Throws CompileError; Error(Usage) if a shader does
  /// not compile without the fault.
  bool changes(const std::vector<ShaderVariant>& variants);
  /// Whether one of the variants that changes() found to differ still does when both are optimized.
  bool changes_optimized();

 private:
  bool differs(const ShaderVariant& variant);
  const std::vector<std::uint32_t>& compiled(const ShaderVariant& variant);
  const std::vector<std::uint32_t>& compiled_without_fault(const ShaderVariant& variant);
  bool uses_file(const ShaderVariant& variant);

  Folders folders_;
  std::filesystem::path file_;  ///< with the fault
  gpu::ShaderLibrary& without_fault_;
  gpu::ShaderSources sources_;
  gpu::ShaderLibrary shaders_;
  std::map<std::string, bool> uses_file_;  ///< by shader
  std::map<ShaderVariant, bool> differs_;
  std::map<ShaderVariant, bool> differs_optimized_;
};

}  // namespace assay::app
