#pragma once

#include <string>
#include <string_view>

namespace assay {

/// A name of any origin as one of a folder or a class: lower-case letters and digits of ASCII, with single
/// hyphens in place of all else; "device" where nothing is left.
std::string slug_of(std::string_view name);

}  // namespace assay
