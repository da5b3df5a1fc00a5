#include "harness/cases/model_keys.h"

#include "harness/cases/id_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay::cases {
namespace {

std::int64_t read_calls(const Origin& origin) {
  const std::int64_t calls = to_integer(*origin.value, {origin.caret, "calls"});
  if (calls > 0) return calls;
  throw Problem(diagnose(*origin.caret, fmt::format("'calls' must be at least 1, got {}", calls)));
}

}  // namespace

std::span<const std::string> model_keys() {
  static const std::array<std::string, 3> keys{"model", "layer", "calls"};
  return keys;
}

bool is_model_key(std::string_view key) {
  const std::span<const std::string> keys = model_keys();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// They become segments of ids: two texts must not give one segment.
Value read_model_key(const std::string& key, const Origin& origin) {
  if (key == "calls") return read_calls(origin);
  const std::string& text = to_text(*origin.value, {origin.caret, key});
  if (!text.empty() && id_text(text) == text) return text;
  throw Problem(diagnose(*origin.caret,
                         fmt::format("a {} has letters, digits, '_' and '.' only, got '{}'", key, text)));
}

}  // namespace assay::cases
