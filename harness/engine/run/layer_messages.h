#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace assay {

/// Messages of the validation layer during some period.
struct LayerMessages {
  std::int64_t count = 0;
  std::vector<std::string> texts;  ///< distinct texts, oldest first

  void add(const LayerMessages& later) {
    count += later.count;
    for (const std::string& text : later.texts) {
      std::erase(texts, text);  // a repeated message counts as the newest
      texts.push_back(text);
    }
  }
};

}  // namespace assay
