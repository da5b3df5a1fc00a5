#pragma once

#include <string>
#include <vector>

namespace assay {

/// The words of a text, between white space: {"M=8", "N=16"} of "M=8 N=16".
std::vector<std::string> words_in(const std::string& text);

}  // namespace assay
