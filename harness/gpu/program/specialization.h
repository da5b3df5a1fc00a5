#pragma once

#include "harness/gpu/spirv/module_declarations.h"
#include "harness/op/program.h"

#include <cstdint>
#include <map>
#include <span>
#include <string_view>

namespace assay::gpu {

/// The name of the constant by which accessors skip the guard before a buffer's data, in words.
inline constexpr std::string_view guard_words = "guard_words";

/// The value of each specialization constant of a dispatch's shader, by its id: the local size (ids 0 to 2),
/// `guard_words` (for a guard of `guard` bytes), and the constants that the dispatch sets, whose ids are
/// found by name in the SPIR-V. A dispatch has to set exactly what its variant of the shader declares. Throws
/// Error, which names the shader, the constant and the declared ones, when the dispatch sets one that is not
/// declared or leaves one out, except if `may_have_own`: those that are left out then keep their defaults.
/// Of a resolved external call (external_call.h) they are the constants that it has, by id.
std::map<std::uint32_t, std::uint32_t> specialization(const Dispatch& dispatch,
                                                      std::span<const std::uint32_t> spirv,
                                                      std::uint32_t guard, bool may_have_own = false);
/// specialization() of a shader whose declared constants are known already.
std::map<std::uint32_t, std::uint32_t> specialization(const Dispatch& dispatch,
                                                      std::span<const DeclaredConstant> declared,
                                                      std::uint32_t guard, bool may_have_own = false);

}  // namespace assay::gpu
