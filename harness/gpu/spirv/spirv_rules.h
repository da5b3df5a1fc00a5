#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::gpu {

/// Why a kernel must not be this module; nothing if it may. A kernel may only compute from what its dispatch
/// binds, and our readers of SPIR-V must understand it as every driver does. So only listed capabilities,
/// extensions, instructions, storage classes, execution modes, built-ins and decorations are allowed, there
/// is one entry point, and nothing is decorated twice with a value: readers may take the first or the last.
/// Throws Error as each_instruction() does.
std::optional<std::string> forbidden_in(std::span<const std::uint32_t> words);

/// The errors of spirv-val in a module for the first Vulkan that takes its version of SPIR-V (1.1 for SPIR-V
/// 1.3); nothing when it is valid.
std::optional<std::string> validate_spirv(const std::vector<std::uint32_t>& words);

/// forbidden_in(), and whether the module is valid. `display` names the shader. Throws
/// CompileError with the reason.
void check_module(const std::string& display, const std::vector<std::uint32_t>& words);

}  // namespace assay::gpu
