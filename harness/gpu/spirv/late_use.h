#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace assay::gpu {

/// What a kernel does with its inputs after it has seen what an earlier run may have left.
struct LateUse {
  std::string what;  ///< "reads it", "uses a value that it has computed from its inputs", ...
  std::optional<std::uint32_t> binding;  ///< of the input that it reads
};

/// Looks for a way in which a kernel could spare itself work by what an earlier run left in `kept`: bindings
/// of buffers that it reads although nothing has written them before. There is none if all that a kernel does
/// with its inputs comes first: once an invocation may know anything that was read from these buffers, it may
/// neither read other buffers and images, nor use what was computed from them. Then what it stores in `kept`
/// is made from the inputs of this run alone, whatever lay there, and what comes after is made from `kept`
/// alone: results of other workgroups and, by counters, the order in which they came. This is the shape of a
/// reduction in a single dispatch, in which the last workgroup joins what all have stored.
///
/// An invocation may know what was read
/// - after an instruction that reads one of the buffers, by all ways through the code, calls included,
/// - after it has read a shared variable that another invocation may have written when it knew.
/// Computed from inputs are results of instructions with such operands, what variables hold after such a
/// value was stored (anywhere in the code), and all that is stored or returned where a branch on such a value
/// decides whether it is. Whatever is not understood counts against the kernel.
///
/// Returns the first such use, or nothing. Throws Error for a module that flow_of() does not take.
std::optional<LateUse> late_use_of_inputs(std::span<const std::uint32_t> words,
                                          const std::set<std::uint32_t>& kept);

}  // namespace assay::gpu
