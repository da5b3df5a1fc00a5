#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"

#include <span>
#include <string_view>

// Push constants that are built into the program as specialization constants. A dispatch over a small tensor
// waits for latency, and its push constants are in no cache when it begins (shaders/NOTES.md).

namespace assay::ops {

/// The tunable `bake`: 1 builds the push constants in; 0 leaves programs that all shapes share.
Tunable bake_tunable();

/// The tuned value of `bake`; by default 1, but 0 on a CPU, where constants are cached.
bool wants_bake(const BuildContext& context);

/// Gives `dispatch`, whose push constants are complete, the specialization constants `baked` (a bool) and
/// `baked_<name>` for each word of its push constants. `names` has one name per word, in order. A word with
/// the name "" is only pushed; the divider of a number that is itself baked, say, is not needed. Without
/// `bakes` all of them are 1 except `baked`, whatever is pushed. Throws std::logic_error where the numbers of
/// names and words differ.
void bake(Dispatch& dispatch, std::span<const std::string_view> names, bool bakes);

}  // namespace assay::ops
