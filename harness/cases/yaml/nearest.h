#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace assay::cases {

/// Returns the least number of insertions, deletions, replacements and swaps of neighbours that turn `a` into
/// `b` (optimal string alignment). Case is ignored.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns our name ("f32", "f16", "i8") for another tool's name of a dtype ("float32", "half", "int8");
/// empty for any other text.
std::string_view dtype_meant(std::string_view text);

/// Returns the known name that `text` probably means, or an empty string. It is the same dtype by another
/// tool's name; else the first of the closest names that differ in at most a third of the letters; else the
/// only name that begins with `text` or has it as one or more of its words ("pixel_shuffle" in
/// "q8ta_pixel_shuffle").
std::string nearest(std::string_view text, std::span<const std::string> known);

}  // namespace assay::cases
