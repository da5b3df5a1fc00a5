#pragma once

#include "harness/op/op.h"

#include <map>
#include <optional>
#include <string>

namespace assay {

/// Returns why `impl` takes no point of `op` with these forms, by tensor ("buffer/WP"), in the impl's words
/// at one of the points that are tried (each_possible_point()). Nothing: it takes some, or it cannot be told,
/// because it takes none of the points with the default forms either.
std::optional<std::string> why_never_taken(const Op& op, const Impl& impl,
                                           const std::map<std::string, std::string>& forms);

}  // namespace assay
