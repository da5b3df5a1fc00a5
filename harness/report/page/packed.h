#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Text as a page carries it: deflated (RFC 1950) and in base64. Whatever the text is, nothing in the result
/// is markup, a quote or a line end.
std::string packed(std::string_view text);

/// RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace assay
