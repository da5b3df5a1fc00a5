#version 450
#extension GL_GOOGLE_include_directive : require

// Pixel shuffle by an even factor r between channels-packed floats:
// y[n, c, r h + down, r w + right] = x[n, (c r + down) r + right, h, w].
//
// X_TYPE, Y_TYPE        TYPE_F32, TYPE_F16, the same
// X_STORAGE, Y_STORAGE  STORAGE_BUFFER, STORAGE_3D, STORAGE_2D
// Y_WHOLE               the channels of y are a multiple of 4; those of x always are
//
// A tile is one quad of y: a pixel of four channels, each of which is one lane of a quad of x. Neighbours write
// neighbours, and each quad of x is read by those of four output pixels, from the cache but for the first time. (To read it
// once and write four quads apart was slower: shaders/NOTES.md.)

#define X_WHOLE 0
#define X_AXIS AXIS_C
#define Y_AXIS AXIS_C
#include "common/bindings.glslh"
#include "common/tile_boxes.glslh"
#include "common/float_quads.glslh"

layout(constant_id = 16) const uint factor = 2u;

layout(push_constant) uniform Push {
  uint width, height, channels;  // of y
  TileBoxes boxes;
  Strides x, y;
} push;

// The value of x at channel `lane` of a quad of channels that begins at `at`.
float load_lane(uint n, uvec3 at, uint lane) {
#if X_STORAGE != STORAGE_BUFFER
  return imageLoad(x, X_TEXEL(texel_of(push.x, n, at, X_AXIS)))[lane];
#else
  const uint place = offset_of(push.x, n, at) + lane;
#if X_TYPE == TYPE_F16
  return unpackHalf2x16(x[guard_words + place / 2u])[place % 2u];
#else
  return uintBitsToFloat(x[guard_words + place]);
#endif
#endif
}

void main() {
  uint n;
  uvec3 tile;
  if (!find_tile(push.boxes, n, tile)) return;
  const uint channel = 4u * tile.z;
  if (any(greaterThanEqual(uvec3(tile.xy, channel), uvec3(push.width, push.height, push.channels)))) return;
  const uint count = min(4u, push.channels - channel);
  const uvec2 pixel = tile.xy / factor;
  const uvec2 inside = tile.xy - pixel * factor;
  const uint place = inside.y * factor + inside.x;
  vec4 values;
  // The last channel again where there are no four: a branch would part the loads.
  for (uint k = 0u; k < 4u; ++k) {
    const uint source = (channel + min(k, count - 1u)) * factor * factor + (place & ~3u);
    values[k] = load_lane(n, uvec3(pixel, source), place & 3u);
  }
  store_quad(push.y, n, uvec3(tile.xy, channel), values, count);
}
