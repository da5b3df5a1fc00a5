#pragma once

#include "harness/gpu/shaders/declared_constants.h"
#include "harness/op/program.h"

#include <cstdint>
#include <map>
#include <span>

namespace assay::gpu {

/// The value of each specialization constant of a dispatch's shader by its id: the local size (ids 0 to 2),
/// `guard_words` of a guard of so many bytes, and what the dispatch sets, each id found by its name in the
/// SPIR-V. A dispatch has to set just what its variant of the shader declares. Throws Error, which names
/// shader, constant and what there is, where it sets one that the variant lacks or leaves one out.
std::map<std::uint32_t, std::uint32_t> specialization(const Dispatch& dispatch,
                                                      std::span<const std::uint32_t> spirv,
                                                      std::uint32_t guard);
/// The same of what the shader is known to declare.
std::map<std::uint32_t, std::uint32_t> specialization(const Dispatch& dispatch,
                                                      std::span<const DeclaredConstant> declared,
                                                      std::uint32_t guard);

}  // namespace assay::gpu
