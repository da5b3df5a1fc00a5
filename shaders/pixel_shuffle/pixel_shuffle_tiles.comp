#version 450
#extension GL_GOOGLE_include_directive : require

// Pixel shuffle by an even factor r between channels-packed floats:
// y[n, c, r h + down, r w + right] = x[n, (c r + down) r + right, h, w].
//
// X_TYPE, Y_TYPE        TYPE_F32 or TYPE_F16, the same for both
// X_STORAGE, Y_STORAGE  STORAGE_BUFFER, STORAGE_3D, STORAGE_2D
// Y_WHOLE               the channels of y are a multiple of 4; x's always are
// TALL                  factor 2: a tile is two quads, one above the other, from the same texels of x
//
// A tile is one or two quads of y: a pixel of four channels, each of which is one lane of a quad of x. Neighbours write
// neighbouring quads, and four output pixels read each quad of x, from the cache after the first time. (Reading it once
// and writing four quads apart was slower: shaders/NOTES.md.)

#define X_WHOLE 0
#define X_AXIS AXIS_C
#define Y_AXIS AXIS_C
#include "common/bindings.glslh"
#include "common/tile_boxes.glslh"
#include "common/float_quads.glslh"

layout(constant_id = 16) const uint factor = 2u;

layout(push_constant) uniform Push {
  uint width, height, channels;  // extent of y
  TileBoxes boxes;
  Strides x, y;
} push;

// One channel of x, in lane 0 for buffers, in its own lane for a texel.
vec4 load_channel(uint n, uvec2 pixel, uint channel) {
#if X_STORAGE != STORAGE_BUFFER
  return imageLoad(x, X_TEXEL(texel_of(push.x, n, uvec3(pixel, channel), X_AXIS)));
#else
  const uint place = offset_of(push.x, n, uvec3(pixel, channel));
#if X_TYPE == TYPE_F16
  return vec4(unpackHalf2x16(x[guard_words + place / 2u])[place % 2u]);
#else
  return vec4(uintBitsToFloat(x[guard_words + place]));
#endif
#endif
}

void main() {
  uint n;
  uvec3 tile;
  if (!find_tile(push.boxes, n, tile)) return;
  const uint channel = 4u * tile.z;
#if TALL
  tile.y *= 2u;
#endif
  if (any(greaterThanEqual(uvec3(tile.xy, channel), uvec3(push.width, push.height, push.channels)))) return;
  const uint count = min(4u, push.channels - channel);
  const uvec2 pixel = tile.xy / factor;
  const uvec2 inside = tile.xy - pixel * factor;
  const uint place = inside.y * factor + inside.x;
  // The last channel is loaded again where there are fewer than four: a branch would separate the loads, and so would
  // taking a lane immediately.
  vec4 loaded[4];
  for (uint k = 0u; k < 4u; ++k) {
    loaded[k] = load_channel(n, pixel, (channel + min(k, count - 1u)) * factor * factor + place);
  }
  const mat4 lanes = transpose(mat4(loaded[0], loaded[1], loaded[2], loaded[3]));
  const vec4 values = lanes[X_STORAGE == STORAGE_BUFFER ? 0u : place & 3u];
  store_quad(push.y, n, uvec3(tile.xy, channel), values, count);
#if TALL
  store_quad(push.y, n, uvec3(tile.x, tile.y + 1u, channel), lanes[place + 2u], count);
#endif
}
