#include "harness/models/tensor_shapes.h"

#include <charconv>
#include <system_error>

namespace assay::models {

std::optional<NameInBlock> name_in_block(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  NameInBlock found;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), found.block);
  if (error != std::errc{} || found.block < 0) return std::nullopt;
  found.rest = name.substr(static_cast<std::size_t>(end - name.data()));
  if (!found.rest.starts_with('.')) return std::nullopt;
  found.rest.remove_prefix(1);
  return found;
}

}  // namespace assay::models
