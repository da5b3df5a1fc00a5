#pragma once

#include "harness/gpu/shaders/shader_sources.h"
#include "harness/op/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace assay::gpu {

/// Keeps glslang's process-wide tables alive during its lifetime. Building them takes tens of milliseconds,
/// so a library makes one only when it first has to compile, not for cached shaders. glslang counts
/// references.
class GlslangProcess {
 public:
  GlslangProcess();
  ~GlslangProcess();
  GlslangProcess(const GlslangProcess&) = delete;
  GlslangProcess& operator=(const GlslangProcess&) = delete;
};

/// Everything besides sources and defines that decides the SPIR-V: glslang's version and our options.
std::string compiler_version();

/// Compiles the compute shader `name` for Vulkan 1.1 (SPIR-V 1.3). `sources` holds the shader and everything
/// that it may include; `places` says in messages where sources were searched. Defines are set before the
/// first line without shifting line numbers. Throws CompileError.
std::vector<std::uint32_t> compile_glsl(const std::string& name,
                                        const std::map<std::string, ShaderSource>& sources,
                                        const std::vector<Define>& defines, const std::string& places);

/// The module as drivers get it: with KHR's matrices if the defines ask for them. `words` are valid. Throws
/// CompileError.
std::vector<std::uint32_t> finished_module(const std::string& display, std::vector<std::uint32_t> words,
                                           const std::vector<Define>& defines);

/// glslang's log made readable: "shaders/x.comp:12: error: ..." with the source line below, then the defines.
std::string compile_story(const std::string& log, const std::map<std::string, ShaderSource>& sources,
                          const std::vector<Define>& defines);

}  // namespace assay::gpu
