#pragma once

#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/shader_sources.h"
#include "harness/op/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace assay::gpu {

/// A compilation that was stopped at a limit, or crashed: other variants of the shader would be too.
class CompilerStopped : public CompileError {
 public:
  using CompileError::CompileError;
};

/// The words of a source that is a SPIR-V module, checked by check_module(). Throws CompileError.
std::vector<std::uint32_t> checked_module(const ShaderSource& source);

/// Runs compile_glsl(), or checked_module() for a module, in a process of its own, for sources that users
/// provide: glslang can neither be interrupted nor limited in memory, and a few lines of macros can make it
/// use all there is. The result is checked there too, by check_module(). `command` starts a program that
/// calls serve_compilation(). Throws CompileError; CompilerStopped when the compiler crashed or exceeded its
/// limits of time or memory; Error(Infrastructure) when it cannot be started.
std::vector<std::uint32_t> compile_in_process(const std::vector<std::string>& command,
                                              const std::string& name,
                                              const std::map<std::string, ShaderSource>& sources,
                                              const std::vector<Define>& defines, const std::string& places);

}  // namespace assay::gpu
