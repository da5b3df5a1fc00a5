#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// How many characters of `text` must change before a glob (glob_matches) matches it. More than `most` is
/// told as most + 1: it ends early.
std::size_t glob_distance(std::string_view glob, std::string_view text, std::size_t most);

/// What may be meant by a glob that matches none of the ids, for the end of a sentence: "; the nearest: A,
/// B", or
/// "; '*view*' would match 12, such as A" where only the stars are missing. Empty: nothing comes near.
std::string near_ids_text(std::string_view glob, std::span<const std::string_view> ids);

/// Why a filter (filter_matches) selects none of the ids, by that of its globs: "; the nearest to 'vew*': A".
std::string near_filter_text(std::string_view filter, std::span<const std::string_view> ids);

}  // namespace assay
