#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace assay::cases {

/// Least number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment). Upper and lower case are the same.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// What another tool's name of a dtype ("float32", "half", "int8") is called here ("f32", "f16", "i8"); empty
/// for any other text.
std::string_view dtype_meant(std::string_view text);

/// The known name that `text` is likely to mean, or an empty string: the same dtype by another tool's name;
/// else the one of which at most a third of the letters differ, the first of several; else the only one that
/// begins with `text` or has it as one or more of its words ("pixel_shuffle" of "q8ta_pixel_shuffle").
std::string nearest(std::string_view text, std::span<const std::string> known);

}  // namespace assay::cases
