#include "harness/cases/select.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

// The pattern of --filter, up to the first line end, and an id after it.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view pattern = text.substr(0, end);
  const std::string_view id = text.substr(std::min(end + 1, text.size()));
  assay::filter_matches(pattern, id);
  if (!assay::glob_matches("*", id) || !assay::filter_matches("", id)) std::abort();
  return 0;
}
