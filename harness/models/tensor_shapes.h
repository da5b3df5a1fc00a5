#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::models {

/// Shapes of a model's weights by name, the outermost dim first: a linear layer's is {N, K}.
using TensorShapes = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

/// The most elements that a tensor of a model may have, so that its bytes can be counted.
inline constexpr std::uint64_t most_elements = std::uint64_t{1} << 48;

/// The number of a block and the rest of a tensor's name, split at "<prefix><number>.": "model.layers.3.mlp"
/// with the prefix "model.layers." is 3 and "mlp". Nothing for other names.
struct NameInBlock {
  std::int64_t block = 0;
  std::string_view rest;
};
std::optional<NameInBlock> name_in_block(std::string_view name, std::string_view prefix);

}  // namespace assay::models
