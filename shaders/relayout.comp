#version 450
#extension GL_GOOGLE_include_directive : require

// Moves a tensor from one physical form to another, and quantises or dequantises it on the way.
//
// X_TYPE, Y_TYPE        TYPE_INT8, TYPE_F32, TYPE_F16
// X_STORAGE, Y_STORAGE  STORAGE_BUFFER; floats also STORAGE_3D, STORAGE_2D
// X_AXIS, Y_AXIS        packed axis: four values along it, a quad, are one word, vector or texel
// X_WHOLE, Y_WHOLE      buffers: floats: every quad is complete and aligned; int8: so are the four quads of a tile
// DEEP                  tiles are 4 x 16: four blocks of channels, whose words are neighbours in y (4C)
//
// A tile is what one invocation moves: 4 x 4 values, four quads along each one's packed axis. Where both are
// packed along the same axis, the other side of the tile is any other axis and no value changes its lane. A
// workgroup is a box of tiles, as wide along each axis as makes both sides' accesses fill cache lines.

#include "common/forms.glslh"
#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/int8x4.glslh"
#include "common/quantise.glslh"

// Axis along which the four quads of a tile are stacked.
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

layout(push_constant) uniform Push {
  uint width, height, channels;
  uint boxes;                  // of all batches
  uint columns, blocks, rows;  // boxes along W, C and H of one batch
  Divider by_columns, by_blocks, by_rows;
  Strides x, y;
  float scale;  // of the integers; quantising: its reciprocal
  int zero_point;
} push;

#if X_STORAGE == STORAGE_3D && X_TYPE == TYPE_F32
layout(set = 0, binding = 0, rgba32f) uniform restrict readonly image3D x;
#elif X_STORAGE == STORAGE_3D
layout(set = 0, binding = 0, rgba16f) uniform restrict readonly image3D x;
#elif X_STORAGE == STORAGE_2D && X_TYPE == TYPE_F32
layout(set = 0, binding = 0, rgba32f) uniform restrict readonly image2D x;
#elif X_STORAGE == STORAGE_2D
layout(set = 0, binding = 0, rgba16f) uniform restrict readonly image2D x;
#elif X_WHOLE && X_TYPE == TYPE_F16
layout(set = 0, binding = 0) restrict readonly buffer X { uvec2 x[]; };
#elif X_WHOLE
layout(set = 0, binding = 0) restrict readonly buffer X { uvec4 x[]; };
#else
layout(set = 0, binding = 0) restrict readonly buffer X { uint x[]; };
#endif

#if Y_STORAGE == STORAGE_3D && Y_TYPE == TYPE_F32
layout(set = 0, binding = 1, rgba32f) uniform restrict writeonly image3D y;
#elif Y_STORAGE == STORAGE_3D
layout(set = 0, binding = 1, rgba16f) uniform restrict writeonly image3D y;
#elif Y_STORAGE == STORAGE_2D && Y_TYPE == TYPE_F32
layout(set = 0, binding = 1, rgba32f) uniform restrict writeonly image2D y;
#elif Y_STORAGE == STORAGE_2D
layout(set = 0, binding = 1, rgba16f) uniform restrict writeonly image2D y;
#elif Y_WHOLE && Y_TYPE == TYPE_F16
layout(set = 0, binding = 1) restrict writeonly buffer Y { uvec2 y[]; };
#elif Y_WHOLE
layout(set = 0, binding = 1) restrict writeonly buffer Y { uvec4 y[]; };
#else
layout(set = 0, binding = 1) restrict writeonly buffer Y { uint y[]; };
#endif

uvec3 size() {
  return uvec3(push.width, push.height, push.channels);
}

// The quads of a tile that exist: the last tile of an axis may stick out.
uint quads_from(uvec3 at, uint stack_axis) {
  return min(4u, size()[stack_axis] - at[stack_axis]);
}

#if X_TYPE == TYPE_INT8
uvec4 load_words(uint n, uvec3 at) {
  const uint first = guard_words + offset_of(push.x, n, at);
#if X_WHOLE
  return x[first / 4u];
#else
  const uint count = quads_from(at, X_STACK);
  const uint step = step_along(push.x, X_STACK);
  uvec4 words = uvec4(0u);
  for (uint i = 0u; i < 4u; ++i) {
    if (i < count) words[i] = x[first + i * step];
  }
  return words;
#endif
}
#else
vec4 load_quad(uint n, uvec3 at) {
#if X_STORAGE == STORAGE_3D
  return imageLoad(x, texel_of(push.x, n, at, X_AXIS));
#elif X_STORAGE == STORAGE_2D
  return imageLoad(x, texel_of(push.x, n, at, X_AXIS).xy);
#else
  const uint first = offset_of(push.x, n, at);
#if X_WHOLE && X_TYPE == TYPE_F16
  return unpack_halves(x[(guard_words * 2u + first) / 4u]);
#elif X_WHOLE
  return uintBitsToFloat(x[(guard_words + first) / 4u]);
#else
  vec4 quad = vec4(0.0);
  const uint count = min(4u, size()[X_AXIS] - at[X_AXIS]);
  for (uint i = 0u; i < 4u; ++i) {
    if (i >= count) break;
#if X_TYPE == TYPE_F16
    quad[i] = unpackHalf2x16(x[guard_words + (first + i) / 2u])[(first + i) % 2u];
#else
    quad[i] = uintBitsToFloat(x[guard_words + first + i]);
#endif
  }
  return quad;
#endif
#endif
}

mat4 load_quads(uint n, uvec3 at) {
  const uint count = quads_from(at, X_STACK);
  mat4 quads = mat4(0.0);
  for (uint i = 0u; i < 4u; ++i) {
    if (i < count) quads[i] = load_quad(n, at);
    ++at[X_STACK];
  }
  return quads;
}
#endif

#if DEEP
// Words [k][i]: block of channels k, pixel i.
void store_blocks(uint n, uvec3 at, uvec4 words[4]) {
  const uint first = guard_words + offset_of(push.y, n, at);
  const uint count = quads_from(at, Y_STACK);
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
  const uint count = quads_from(at, Y_STACK);
  const uint step = step_along(push.y, Y_STACK);
  for (uint i = 0u; i < 4u; ++i) {
    if (i < count) y[first + i * step] = words[i];
  }
#endif
}
#else
void store_quad(uint n, uvec3 at, vec4 quad) {
#if Y_TYPE == TYPE_F16
  quad = overflowed_halves(quad);
#endif
#if Y_STORAGE == STORAGE_3D
  imageStore(y, texel_of(push.y, n, at, Y_AXIS), quad);
#elif Y_STORAGE == STORAGE_2D
  imageStore(y, texel_of(push.y, n, at, Y_AXIS).xy, quad);
#else
  const uint first = offset_of(push.y, n, at);
#if Y_WHOLE && Y_TYPE == TYPE_F16
  y[(guard_words * 2u + first) / 4u] = pack_halves(quad);
#elif Y_WHOLE
  y[(guard_words + first) / 4u] = floatBitsToUint(quad);
#else
  const uint count = min(4u, size()[Y_AXIS] - at[Y_AXIS]);
  for (uint i = 0u; i < 4u; ++i) {
    if (i < count) y[guard_words + first + i] = floatBitsToUint(quad[i]);
  }
#endif
#endif
}

void store_quads(uint n, uvec3 at, mat4 quads) {
  const uint count = quads_from(at, Y_STACK);
  for (uint i = 0u; i < 4u; ++i) {
    if (i < count) store_quad(n, at, quads[i]);
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

uint quantise(vec4 reals) {
  vec4 integers;
  for (uint i = 0u; i < 4u; ++i) {
    const float scaled = product(reals[i], push.scale);
    integers[i] = rounded_and_clamped(scaled, 0.0, float(push.zero_point), -128.0, 127.0);
  }
  return pack_integers(integers, 0.0);
}

vec4 dequantise(uint word) {
  const vec4 integers = signed_bytes_less(word, ivec4(push.zero_point));
  vec4 reals;
  for (uint i = 0u; i < 4u; ++i) reals[i] = product(push.scale, integers[i]);
  return reals;
}

void move_tile(uint n, uvec3 at) {
#if DEEP
  uvec4 words[4];
  for (uint k = 0u; k < 4u; ++k) words[k] = turned(load_words(n, at + uvec3(0u, 0u, 4u * k)));
  store_blocks(n, at, words);
#elif X_TYPE == TYPE_INT8 && Y_TYPE == TYPE_INT8
  store_words(n, at, turned(load_words(n, at)));
#elif X_TYPE == TYPE_INT8
  const uvec4 words = turned(load_words(n, at));
  mat4 quads;
  for (uint i = 0u; i < 4u; ++i) quads[i] = dequantise(words[i]);
  store_quads(n, at, quads);
#elif Y_TYPE == TYPE_INT8
  const mat4 quads = load_quads(n, at);
  uvec4 words;
  for (uint i = 0u; i < 4u; ++i) words[i] = quantise(quads[i]);
  store_words(n, at, turned(words));
#else
  store_quads(n, at, turned(load_quads(n, at)));
#endif
}

void main() {
  const uint box = flat_workgroup();
  if (box >= push.boxes) return;
  const uint rest = divide(box, push.by_columns);
  const uint rows = divide(rest, push.by_blocks);
  const uint n = divide(rows, push.by_rows);
  const uvec3 box_at = uvec3(box - rest * push.columns, rows - n * push.rows, rest - rows * push.blocks);
  uvec3 at = box_at * gl_WorkGroupSize + gl_LocalInvocationID;
  at[X_AXIS] *= 4u;
  at[X_STACK] *= 4u;
#if DEEP
  at[AXIS_C] *= 4u;
#endif
  if (any(greaterThanEqual(at, size()))) return;
  move_tile(n, at);
}
