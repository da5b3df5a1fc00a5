#pragma once

#include "harness/report/page/page_data.h"

#include <span>
#include <string>
#include <string_view>

namespace assay {

/// What is the same in every page: markup, style, script and the chart library with its licence, put together
/// when assay was built (cmake/embed_page.cmake). Data go between the two halves.
std::string_view page_head();
std::string_view page_tail();

/// One self-contained HTML file: no server, no network. Nothing of the data can become markup or script: they
/// stand in it as base64, and what the script shows of them is always text.
std::string page_html(std::span<const PagePart> parts);

}  // namespace assay
