#pragma once

#include "harness/gpu/shaders/shader_sources.h"
#include "harness/op/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace assay::gpu {

/// compile_glsl() in a process of its own, for sources of people: glslang can neither be interrupted nor told
/// how much memory it may take, and a few lines of macros are enough to make it take all there is. `command`
/// starts a program that calls serve_compilation(). Throws CompileError, also where the compiler took more
/// time or memory than it may or crashed; Error(Infrastructure) where it cannot be started.
std::vector<std::uint32_t> compile_in_process(const std::vector<std::string>& command,
                                              const std::string& name,
                                              const std::map<std::string, ShaderSource>& sources,
                                              const std::vector<Define>& defines, const std::string& places);

}  // namespace assay::gpu
