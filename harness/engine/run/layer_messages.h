#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace assay {

/// What the validation layer said during some time.
struct LayerMessages {
  std::int64_t count = 0;
  std::vector<std::string> texts;  ///< the different ones, oldest first

  void add(const LayerMessages& later) {
    count += later.count;
    for (const std::string& text : later.texts) {
      std::erase(texts, text);  // said again: it counts as the newest
      texts.push_back(text);
    }
  }
};

}  // namespace assay
