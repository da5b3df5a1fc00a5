#pragma once

#include "harness/cases/case.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Says which cases to run. Empty members select everything.
struct Selection {
  /// "POS[:POS...][-NEG[:NEG...]]", globs over ids, as in GoogleTest.
  std::string filter;
  std::vector<std::string> impls;  ///< names or globs; a case passes when one matches
  std::vector<std::string> ops;    ///< names or globs
  std::optional<Mode> mode;        ///< Accu and Perf also select cases of mode `both`
  std::vector<Tier> tiers;
};

/// Returns whether `text` matches `pattern`: `*` is any text, `?` any one character. Takes at most time
/// proportional to pattern times text.
bool glob_matches(std::string_view pattern, std::string_view text);

/// Returns whether an id passes a GoogleTest filter: some POS matches (or there is none) and no NEG does.
bool filter_matches(std::string_view filter, std::string_view id);

/// Returns whether a case passes by its id or, if it has cold rows, by the id of these, which reports show:
/// the case's with "/cold".
bool filter_matches(std::string_view filter, const Case& test_case);

/// Returns the POS globs of a filter that match none of the cases, if others match some.
std::vector<std::string_view> unmatched_globs(std::string_view filter, std::span<const Case> cases);

/// Returns the selected cases in their order. They point into `cases`.
std::vector<const Case*> select(std::span<const Case> cases, const Selection& selection);

/// Cases that share one data set and one reference.
struct Group {
  std::vector<const Case*> cases;
};

/// Groups cases by data_key, in the order in which the keys first appear.
std::vector<Group> group_by_data(std::span<const Case* const> cases);

/// Returns how many characters of `text` must change for a glob (glob_matches) to match it. Stops early and
/// returns most + 1 if there are more than `most`.
std::size_t glob_distance(std::string_view glob, std::string_view text, std::size_t most);

/// Returns suggestions for a glob that matches none of the ids, for the end of a sentence: "; the nearest: A,
/// B", or "; '*view*' would match 12, such as A" if only stars are missing. Empty if nothing is near.
std::string near_ids_text(std::string_view glob, std::span<const std::string_view> ids);

/// Returns suggestions for a filter (filter_matches) that selects none of the ids, for each of its globs.
std::string near_filter_text(std::string_view filter, std::span<const std::string_view> ids);

}  // namespace assay
