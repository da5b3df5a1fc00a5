#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Text as it is embedded in a page: deflated (RFC 1950) and in base64, so that the result never contains
/// markup, quotes or line ends.
std::string packed(std::string_view text);

/// Base64 as in RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace assay
