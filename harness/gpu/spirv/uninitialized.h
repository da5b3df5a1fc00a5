#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace assay::gpu {

// Variables of an invocation (storage classes Function and Private) have no defined value until they are set.
// Some drivers make them zero, where a kernel that forgets `= 0` is right by chance. may_read_uninitialized()
// (gpu.h) is defined here, too.

/// The sign of the numbers that variables hold: a minimum is right by chance with one, a maximum with the
/// other.
enum class PoisonSign : std::uint8_t { Positive, Negative };

/// The module, in which each variable of an invocation without an initial value has one: numbers that are far
/// from zero, and true or false. Those of other types (matrices of extensions) and with more than
/// most_poisoned_parts components stay as they are. Undefined values (OpUndef) outside of functions become
/// constants in the same way. `specialization` maps SpecIds to the values that the pipeline will be created
/// with: sizes of arrays may depend on them. Throws Error as each_instruction() does.
std::vector<std::uint32_t> with_poisoned_variables(
    std::span<const std::uint32_t> words, const std::map<std::uint32_t, std::uint32_t>& specialization,
    PoisonSign sign);

/// The most components of a variable that is poisoned: each is stored whenever a function begins, and tiles
/// of matrix kernels would take a CPU several times as long.
inline constexpr std::uint64_t most_poisoned_parts = 64;

}  // namespace assay::gpu
