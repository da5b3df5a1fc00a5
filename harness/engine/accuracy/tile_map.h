#pragma once

#include "harness/tensor/shape.h"

#include <cstdint>
#include <functional>
#include <string>

namespace assay {

/// A small text picture of where errors are: the last dim runs across (at most 64 tiles), all others down (at
/// most 16). Each tile is one character: '.' no error, '1'-'9' that many tenths of its elements are wrong (at
/// least one tenth is shown), '#' all are wrong. The first line gives the size of a tile and explains the
/// characters.
std::string tile_map(const Shape& shape, const std::function<bool(std::int64_t)>& is_bad);

}  // namespace assay
