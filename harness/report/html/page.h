#pragma once

#include "harness/report/html/page_data.h"

#include <span>
#include <string>
#include <string_view>

namespace assay {

/// The fixed parts of every page: markup, style, script and the chart library with its licence, assembled
/// when assay is built (cmake/embed_page.cmake). The data go between the two halves.
std::string_view page_head();
std::string_view page_tail();

/// One self-contained HTML file that needs no server and no network. The data cannot become markup or script:
/// they are embedded as base64, and the script shows them only as text.
std::string page_html(std::span<const PagePart> parts);

}  // namespace assay
