#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"

#include <span>
#include <string_view>

// Push constants that are built into the program as specialization constants: what a small tensor waits for
// is latency, and a dispatch's push constants are in no cache when it begins (shaders/NOTES.md).

namespace assay::ops {

/// The tunable `bake`: 1 builds the push constants in, 0 leaves programs that all shapes share.
Tunable bake_tunable();

/// The tuned `bake`; by default 1, but 0 on a CPU, where constants are cached.
bool wants_bake(const BuildContext& context);

/// Gives `dispatch`, whose push constants are complete, the specialization constants `baked` (a bool) and
/// `baked_<name>` for each word of its push constants. `names` has one name a word, in order; a word without
/// one ("") is pushed only: the shader needs no divider of a number that it knows, say. Unless `bakes`, all
/// are 1 but `baked`, whatever is pushed. Throws std::logic_error where names and words differ in number.
void bake(Dispatch& dispatch, std::span<const std::string_view> names, bool bakes);

}  // namespace assay::ops
