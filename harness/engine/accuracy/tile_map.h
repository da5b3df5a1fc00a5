#pragma once

#include "harness/tensor/shape.h"

#include <cstdint>
#include <functional>
#include <string>

namespace assay {

/// A small picture of where errors lie: the last dim runs across (at most 64 tiles), all others down (at most
/// 16). One character a tile: '.' no error, '1'-'9' that many tenths of its elements wrong (at least one),
/// '#' all wrong. The first line says what a tile covers and
/// what the characters mean.
std::string tile_map(const Shape& shape, const std::function<bool(std::int64_t)>& is_bad);

}  // namespace assay
