#pragma once

#include "harness/engine/diagnosis/evidence.h"

namespace assay {

// Hypotheses that compare each wrong value with the expected value at its place.

std::optional<Explanation> explain_unwritten(const WrongOutput& output);
/// Explains several indices of a dim stored over each other: most elements are never written, the others hold
/// the expected values of another index.
std::optional<Explanation> explain_overwritten(const WrongOutput& output);
std::optional<Explanation> explain_nan(const WrongOutput& output);
/// Explains values with the opposite sign: for integers -expected.
std::optional<Explanation> explain_sign(const WrongOutput& output);
/// Explains a wrong clamp: nearly all wrong elements are expected at one end of the expected values, or they
/// all hold one value and no right element lies beyond it.
std::optional<Explanation> explain_clamp(const WrongOutput& output);
/// Explains a constant difference of nearly all elements that are not clamped. Integers that are off by one
/// among others that are right do not count.
std::optional<Explanation> explain_difference(const WrongOutput& output);
/// Explains nearly all elements being the expected ones times one number.
std::optional<Explanation> explain_ratio(const WrongOutput& output);
/// Explains integers that are off by one in one direction (up, down, towards or away from zero) among others
/// that are right. `zero_of` gives each element's value when all of the op's data are zero; empty: not known.
std::optional<Explanation> explain_rounding(const WrongOutput& output,
                                            const std::function<double(std::int64_t)>& zero_of);

}  // namespace assay
