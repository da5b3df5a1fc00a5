#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Turns any name into one for a folder or a class: lower-case ASCII letters and digits, with single hyphens
/// for everything else; "device" if nothing is left.
std::string slug_of(std::string_view name);

}  // namespace assay
