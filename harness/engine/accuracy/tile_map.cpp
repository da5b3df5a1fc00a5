#include "harness/engine/accuracy/tile_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace assay {
namespace {

constexpr std::int64_t max_across = 64;
constexpr std::int64_t max_down = 16;

struct Tile {
  std::int64_t elements = 0;
  std::int64_t bad = 0;
};

char symbol(const Tile& tile) {
  if (tile.bad == 0) return '.';
  if (tile.bad == tile.elements) return '#';
  const std::int64_t tenths = tile.bad * 10 / tile.elements;
  return static_cast<char>('0' + std::clamp<std::int64_t>(tenths, 1, 9));
}

}  // namespace

std::string tile_map(const Shape& shape, const std::function<bool(std::int64_t)>& is_bad) {
  const std::int64_t width = shape.back();
  const std::int64_t rows = numel(shape) / width;
  const std::int64_t tile_width = div_up(width, max_across);
  const std::int64_t tile_height = div_up(rows, max_down);
  const std::int64_t across = div_up(width, tile_width);
  std::vector<Tile> tiles(static_cast<std::size_t>(across * div_up(rows, tile_height)));
  for (std::int64_t i = 0; i < rows * width; ++i) {
    Tile& tile = tiles[static_cast<std::size_t>(i / width / tile_height * across + i % width / tile_width)];
    ++tile.elements;
    if (is_bad(i)) ++tile.bad;
  }
  std::string text =
      fmt::format("errors by tile of {} row{} x {} column{} of {} x {}", tile_height,
                  tile_height == 1 ? "" : "s", tile_width, tile_width == 1 ? "" : "s", rows, width);
  text += " ('.' none wrong, '1'-'9' tenths wrong, '#' all)";
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (static_cast<std::int64_t>(i) % across == 0) text += "\n";
    text += symbol(tiles[i]);
  }
  return text;
}

}  // namespace assay
