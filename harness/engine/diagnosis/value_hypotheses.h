#pragma once

#include "harness/engine/diagnosis/explanation.h"

namespace assay {

// Hypotheses that compare each wrong value with the expected one of its place.

std::optional<Explanation> explain_unwritten(const WrongOutput& output);
/// Several indices of a dim are stored over each other: most of its elements are never written, the others
/// hold what is expected of another index.
std::optional<Explanation> explain_overwritten(const WrongOutput& output);
std::optional<Explanation> explain_nan(const WrongOutput& output);
/// The sign is turned; integers: -expected.
std::optional<Explanation> explain_sign(const WrongOutput& output);
/// Nearly all wrong elements are expected at one end of what is expected at all; or they hold one value, and
/// no right element lies beyond it.
std::optional<Explanation> explain_clamp(const WrongOutput& output);
/// Nearly all elements that are not clamped are off by one number. Not where integers are off by one beside
/// others that are right.
std::optional<Explanation> explain_difference(const WrongOutput& output);
/// Nearly all elements are the expected ones times a number.
std::optional<Explanation> explain_ratio(const WrongOutput& output);
/// Integers that are off by one in one direction (up, down, to or from the value that `zero_of` gives), among
/// others that are right. `zero_of`: what each element is where the op's data are zero; empty: not known.
std::optional<Explanation> explain_rounding(const WrongOutput& output,
                                            const std::function<double(std::int64_t)>& zero_of);

}  // namespace assay
