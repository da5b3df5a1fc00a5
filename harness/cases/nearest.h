#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace assay::cases {

/// Least number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment). Upper and lower case are the same.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known name nearest to `text`, or an empty string when none is near enough to be meant: at most a third
/// of its letters differ. The first one wins a tie.
std::string nearest(std::string_view text, std::span<const std::string> known);

}  // namespace assay::cases
