#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Returns how many characters of `text` must change for a glob (glob_matches) to match it. Stops early and
/// returns most + 1 if there are more than `most`.
std::size_t glob_distance(std::string_view glob, std::string_view text, std::size_t most);

/// Returns suggestions for a glob that matches none of the ids, for the end of a sentence: "; the nearest: A,
/// B", or "; '*view*' would match 12, such as A" if only stars are missing. Empty if nothing is near.
std::string near_ids_text(std::string_view glob, std::span<const std::string_view> ids);

/// Returns suggestions for a filter (filter_matches) that selects none of the ids, for each of its globs.
std::string near_filter_text(std::string_view filter, std::span<const std::string_view> ids);

}  // namespace assay
