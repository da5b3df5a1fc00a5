#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace assay::gpu {

/// What a kernel does with its inputs after it may have seen what an earlier run left.
struct LateUse {
  std::string what;  ///< "reads it", "uses a value that it has computed from its inputs", ...
  std::optional<std::uint32_t> binding;  ///< of the input that it reads
};

/// Bindings of buffers that a dispatch reads although no dispatch has written them before.
struct KeptBindings {
  std::set<std::uint32_t> all;
  std::set<std::uint32_t> counters;  ///< those of `all` that hold zeros when a program begins and ends
};

/// Looks for a way in which a kernel could spare itself work by what an earlier run left in `kept`. There is
/// none if it has two phases, and a barrier between them at which all invocations of a workgroup wait for
/// each other:
/// - before, it reads nothing of `kept`; what it stores there is made from the inputs of this run alone, and
///   must be stored, because the barrier orders buffers;
/// - afterwards it reads no other buffer or image, uses nothing that was computed from one, and does nothing
///   that depends on one but by way of `kept`; and it stores there only constants in `counters`.
/// This is the shape of a reduction in a single dispatch, in which the last workgroup joins what all have
/// stored. An invocation that reads memory of its workgroup past the end of an array learns nothing from its
/// workgroup either: when it is in its first phase, so are all others. What is left to the second phase may
/// still depend on the past, by parts that another workgroup has not stored yet, and by counters: audits, and
/// the check of the counters, are for that (docs/trust.md).
///
/// Every barrier up to that one must be reached by all invocations alike: not depend on values that may
/// differ between them. Those are read from buffers, images and shared memory, from built-in variables but
/// the workgroup's number and the number of workgroups, from variables that are never written or have an
/// index that is no constant, and come from other invocations of the subgroup. Computed from a value are
/// results of instructions with such an operand, what variables hold after such a value was stored (anywhere
/// in the code), and what is stored or returned where a branch on one decides whether it is. Pointers that
/// are used in a way that is not known count against the kernel.
///
/// Returns such a use, or nothing. Throws Error for a module that flow_of() does not take.
std::optional<LateUse> late_use_of_inputs(std::span<const std::uint32_t> words, const KeptBindings& kept);

}  // namespace assay::gpu
