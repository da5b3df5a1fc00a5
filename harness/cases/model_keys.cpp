#include "harness/cases/model_keys.h"

#include <algorithm>
#include <array>

namespace assay::cases {

std::span<const std::string> model_keys() {
  static const std::array<std::string, 3> keys{"model", "layer", "calls"};
  return keys;
}

bool is_model_key(std::string_view key) {
  const std::span<const std::string> keys = model_keys();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace assay::cases
