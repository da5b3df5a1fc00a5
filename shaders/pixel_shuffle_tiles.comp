#version 450
#extension GL_GOOGLE_include_directive : require

// Pixel shuffle by 2 between channels-packed floats: y[n, c, 2h + down, 2w + right] = x[n, 4c + 2 down + right, h, w].
//
// X_TYPE, Y_TYPE        TYPE_F32, TYPE_F16, the same
// X_STORAGE, Y_STORAGE  STORAGE_BUFFER, STORAGE_3D, STORAGE_2D
// Y_WHOLE               the channels of y are a multiple of 4; those of x always are
//
// A quad of x, four channels of one pixel, is 2 x 2 pixels of one channel of y. So four of them, turned, are four quads
// of y: that is a tile, and a workgroup is a box of tiles. When quads are `apart`, a tile is one of those four, so that
// neighbours along W write neighbours, and each quad of x is read by four of them.

#define X_WHOLE 1
#define X_AXIS AXIS_C
#define Y_AXIS AXIS_C
#include "common/bindings.glslh"
#include "common/tile_boxes.glslh"
#include "common/float_quads.glslh"

layout(constant_id = 16) const bool apart = false;

layout(push_constant) uniform Push {
  uint width, height, channels;  // in pixels of x, or of y when quads are apart; channels of y
  TileBoxes boxes;
  Strides x, y;
} push;

// Row k: the 2 x 2 pixels of the k-th channel from `channel`.
mat4 load_pixels(uint n, uvec2 pixel, uint channel, uint count) {
  mat4 rows = mat4(0.0);
  for (uint k = 0u; k < 4u; ++k) {
    if (k < count) rows[k] = load_quad(push.x, n, uvec3(pixel, 4u * (channel + k)), 4u);
  }
  return rows;
}

void main() {
  uint n;
  uvec3 tile;
  if (!find_tile(push.boxes, n, tile)) return;
  const uint channel = 4u * tile.z;
  if (any(greaterThanEqual(uvec3(tile.xy, channel), uvec3(push.width, push.height, push.channels)))) return;
  const uint count = min(4u, push.channels - channel);
  if (apart) {
    const mat4 pixels = transpose(load_pixels(n, tile.xy / 2u, channel, count));
    const uint place = 2u * (tile.y % 2u) + tile.x % 2u;
    store_quad(push.y, n, uvec3(tile.xy, channel), pixels[place], count);
    return;
  }
  const mat4 pixels = transpose(load_pixels(n, tile.xy, channel, count));
  for (uint place = 0u; place < 4u; ++place) {
    const uvec2 pixel = 2u * tile.xy + uvec2(place % 2u, place / 2u);
    store_quad(push.y, n, uvec3(pixel, channel), pixels[place], count);
  }
}
