#pragma once

#include "harness/gpu/shaders/shader_sources.h"
#include "harness/op/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace assay::gpu {

/// Keeps glslang's process-wide tables alive while it lives. Building them takes tens of milliseconds, so a
/// library makes one when it first has to compile, and not for cached shaders. glslang counts its users.
class GlslangProcess {
 public:
  GlslangProcess();
  ~GlslangProcess();
  GlslangProcess(const GlslangProcess&) = delete;
  GlslangProcess& operator=(const GlslangProcess&) = delete;
};

/// What, beside sources and defines, decides about the SPIR-V: glslang's version and our options.
std::string compiler_version();

/// Compiles the compute shader `name` for Vulkan 1.1 (SPIR-V 1.3). `sources` has it and what it may include.
/// Defines are set before the first line without shifting line numbers. Throws CompileError.
std::vector<std::uint32_t> compile_glsl(const std::string& name,
                                        const std::map<std::string, ShaderSource>& sources,
                                        const std::vector<Define>& defines, const std::string& places);

/// glslang's log as a person likes to read it: "shaders/x.comp:12: error: ..." and the line itself below,
/// then the defines.
std::string compile_story(const std::string& log, const std::map<std::string, ShaderSource>& sources,
                          const std::vector<Define>& defines);

}  // namespace assay::gpu
