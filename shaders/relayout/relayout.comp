#version 450
#extension GL_GOOGLE_include_directive : require

// Moves a tensor from one physical form to another, and quantizes or dequantizes it on the way.
//
// X_TYPE, Y_TYPE        TYPE_INT8, TYPE_F32, TYPE_F16
// X_STORAGE, Y_STORAGE  STORAGE_BUFFER; floats also STORAGE_3D, STORAGE_2D
// X_AXIS, Y_AXIS        packed axis: four values along it, a quad, are one word, vector or texel
// X_WHOLE, Y_WHOLE      buffers: every quad of floats, or the four quads of a tile of int8, is complete and aligned
// DEEP                  tiles are 4 x 16: four blocks of channels, whose words are neighbours in y (4C)
// RELU                  int8x4 to int8x4: values are rectified and requantized (q8ta_relu)
// SCATTER               texture to buffer of f32, packed along another axis: a tile is one texel, whose values
//                       are written apart
// GATHER                floats to a texture that is packed along another axis: a tile is one texel, whose values are
//                       read apart
//
// A tile is what one invocation moves: 4 x 4 values, four quads along the packed axis of each side. Where both sides
// are packed along the same axis, the other side of the tile is any other axis, and no value changes its lane; for
// floats a tile is then a single quad. A workgroup is a box of tiles, as wide along each axis as is needed for the
// accesses of both sides to fill cache lines.

#include "common/bindings.glslh"
#include "common/tile_boxes.glslh"
#include "common/float_quads.glslh"
#include "common/guards.glslh"
#include "common/int8x4.glslh"
#include "common/quantize.glslh"
#if RELU
#include "common/requantize.glslh"
#endif

// The axis along which the four quads of a tile are stacked.
#if X_AXIS != Y_AXIS
#define X_STACK Y_AXIS
#define Y_STACK X_AXIS
#elif X_AXIS == AXIS_W
#define X_STACK AXIS_H
#define Y_STACK AXIS_H
#else
#define X_STACK AXIS_W
#define Y_STACK AXIS_W
#endif

#define SINGLE (SCATTER || GATHER || (X_AXIS == Y_AXIS && X_TYPE != TYPE_INT8 && Y_TYPE != TYPE_INT8))

layout(push_constant) uniform Push {
  uint width, height, channels;
  TileBoxes boxes;
  Strides x, y;
#if RELU
  Requantization requantization;
#else
  float scale;  // scale of the integers; for quantizing its reciprocal
  int zero_point;
#endif
} push;

uvec3 size() { return uvec3(push.width, push.height, push.channels); }

// The number of values, at most four, that exist from `at` along an axis: the last tile may extend past the tensor.
uint left_along(uint axis, uvec3 at) { return min(4u, size()[axis] - at[axis]); }

#if X_TYPE == TYPE_INT8
uvec4 load_words(uint n, uvec3 at) {
  const uint first = guard_words + offset_of(push.x, n, at);
#if X_WHOLE
  return x[first / 4u];
#else
  const uint count = left_along(X_STACK, at);
  const uint step = step_along(push.x, X_STACK);
  uvec4 words = uvec4(0u);
  for (uint i = 0u; i < 4u; ++i) {
    if (i < count) words[i] = x[first + i * step];
  }
  return words;
#endif
}
#else
mat4 load_quads(uint n, uvec3 at) {
  const uint count = left_along(X_STACK, at);
  const uint values = left_along(X_AXIS, at);
  mat4 quads = mat4(0.0);
  for (uint i = 0u; i < 4u; ++i) {
    if (i < count) quads[i] = load_quad(push.x, n, at, values);
    ++at[X_STACK];
  }
  return quads;
}
#endif

#if DEEP
// Stores words[k][i]: block of channels k, pixel i.
void store_blocks(uint n, uvec3 at, uvec4 words[4]) {
  const uint first = guard_words + offset_of(push.y, n, at);
  const uint count = left_along(Y_STACK, at);
  const uint step = step_along(push.y, Y_STACK);
  for (uint i = 0u; i < 4u; ++i) {
    if (i < count) y[(first + i * step) / 4u] = uvec4(words[0][i], words[1][i], words[2][i], words[3][i]);
  }
}
#elif Y_TYPE == TYPE_INT8
void store_words(uint n, uvec3 at, uvec4 words) {
  const uint first = guard_words + offset_of(push.y, n, at);
#if Y_WHOLE
  y[first / 4u] = words;
#else
  const uint count = left_along(Y_STACK, at);
  const uint step = step_along(push.y, Y_STACK);
  for (uint i = 0u; i < 4u; ++i) {
    if (i < count) y[first + i * step] = words[i];
  }
#endif
}
#else
void store_quads(uint n, uvec3 at, mat4 quads) {
  const uint count = left_along(Y_STACK, at);
  const uint values = left_along(Y_AXIS, at);
  for (uint i = 0u; i < 4u; ++i) {
    if (i < count) store_quad(push.y, n, at, quads[i], values);
    ++at[Y_STACK];
  }
}
#endif

uvec4 turned(uvec4 words) {
#if X_AXIS == Y_AXIS
  return words;
#else
  return transpose_bytes(words);
#endif
}

mat4 turned(mat4 quads) {
#if X_AXIS == Y_AXIS
  return quads;
#else
  return transpose(quads);
#endif
}

#if RELU
uvec4 converted(uvec4 words) {
  for (uint i = 0u; i < 4u; ++i) words[i] = rectified_word(words[i], push.requantization);
  return words;
}
#else
uvec4 converted(uvec4 words) { return words; }

uint quantize(vec4 reals) {
  vec4 integers;
  for (uint i = 0u; i < 4u; ++i) {
    const float scaled = product(reals[i], push.scale);
    integers[i] = rounded_and_clamped(scaled, 0.0, float(push.zero_point), -128.0, 127.0);
  }
  return pack_integers(integers, 0.0);
}

vec4 dequantize(uint word) {
  const vec4 integers = signed_bytes_less(word, ivec4(push.zero_point));
  vec4 reals;
  for (uint i = 0u; i < 4u; ++i) reals[i] = product(push.scale, integers[i]);
  return reals;
}
#endif

#if SCATTER
// Neighbours along Y_AXIS write neighbouring words.
void scatter(uint n, uvec3 at, vec4 quad) {
  const uint first = guard_words + offset_of(push.y, n, at);
  const uint count = left_along(X_AXIS, at);
  const uint step = step_along(push.y, X_AXIS);
  for (uint i = 0u; i < 4u; ++i) {
    if (i < count) y[first + i * step] = floatBitsToUint(quad[i]);
  }
}
#endif

#if GATHER
// Neighbours along X_AXIS read neighbouring values.
vec4 gathered(uint n, uvec3 at) {
  const uint last = size()[Y_AXIS] - 1u;
  const uint lane = X_STORAGE == STORAGE_BUFFER ? 0u : at[X_AXIS] & 3u;
  vec4 loaded[4];
  for (uint i = 0u; i < 4u; ++i) {
    uvec3 from = at;
    from[Y_AXIS] = min(at[Y_AXIS] + i, last);
    loaded[i] = load_quad(push.x, n, from, 1u);
  }
  return transpose(mat4(loaded[0], loaded[1], loaded[2], loaded[3]))[lane];
}
#endif

void move_tile(uint n, uvec3 at) {
#if GATHER
  store_quad(push.y, n, at, gathered(n, at), 4u);
#elif SCATTER
  scatter(n, at, load_quad(push.x, n, at, 4u));
#elif DEEP
  uvec4 words[4];
  for (uint k = 0u; k < 4u; ++k) words[k] = turned(converted(load_words(n, at + uvec3(0u, 0u, 4u * k))));
  store_blocks(n, at, words);
#elif X_TYPE == TYPE_INT8 && Y_TYPE == TYPE_INT8
  store_words(n, at, turned(converted(load_words(n, at))));
#elif X_TYPE == TYPE_INT8
  const uvec4 words = turned(load_words(n, at));
  mat4 quads;
  for (uint i = 0u; i < 4u; ++i) quads[i] = dequantize(words[i]);
  store_quads(n, at, quads);
#elif Y_TYPE == TYPE_INT8
  const mat4 quads = load_quads(n, at);
  uvec4 words;
  for (uint i = 0u; i < 4u; ++i) words[i] = quantize(quads[i]);
  store_words(n, at, turned(words));
#elif SINGLE
  const uint values = left_along(X_AXIS, at);
  store_quad(push.y, n, at, load_quad(push.x, n, at, values), values);
#else
  store_quads(n, at, turned(load_quads(n, at)));
#endif
}

void main() {
  uint n;
  uvec3 at;
  if (!find_tile(push.boxes, n, at)) return;
#if GATHER
  at[Y_AXIS] *= 4u;
#else
  at[X_AXIS] *= 4u;
#endif
#if !SINGLE
  at[X_STACK] *= 4u;
#endif
#if DEEP
  at[AXIS_C] *= 4u;
#endif
  if (any(greaterThanEqual(at, size()))) return;
  move_tile(n, at);
}
