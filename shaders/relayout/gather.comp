#version 450
#extension GL_GOOGLE_include_directive : require

// Moves a tensor to any form of floats and any order, where relayout.comp, permute.comp and copy.comp cannot. One
// invocation computes four values that share a texel of y, or are neighbours in its buffer, and looks up each of them
// in x.
//
// X_TYPE, Y_TYPE        TYPE_F32, TYPE_F16; X_TYPE also TYPE_INT8, which is dequantized
// X_STORAGE, Y_STORAGE  STORAGE_BUFFER; floats also STORAGE_3D, STORAGE_2D
// Y_WHOLE               buffers: four neighbours always lie in one row, and are written as one vector
// MAP                   MAP_VIEW: the same row-major index; MAP_PERMUTE: the dims of x in another order;
//                       MAP_SHUFFLE: a pixel shuffle

#define X_WHOLE 0
#include "common/bindings.glslh"
#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/packing.glslh"
#include "common/quantize.glslh"

#define MAP_VIEW 0
#define MAP_PERMUTE 1
#define MAP_SHUFFLE 2

// Values of y_order, the order of y's memory: the layouts of floats in harness/tensor/form.h.
#define ORDER_WP 0u
#define ORDER_HP 1u
#define ORDER_CP 2u

layout(constant_id = 16) const uint y_order = ORDER_WP;
layout(constant_id = 17) const uint x_packed_axis = AXIS_W;  // textures
#if MAP == MAP_PERMUTE
// The dim of y (0 to 3: N, C, H, W) that each of N, C, H, W of x becomes.
layout(constant_id = 18) const uint n_from = 0u;
layout(constant_id = 19) const uint c_from = 1u;
layout(constant_id = 20) const uint h_from = 2u;
layout(constant_id = 21) const uint w_from = 3u;
#elif MAP == MAP_SHUFFLE
layout(constant_id = 22) const uint upscale = 2u;
#endif

struct Side {
  uint width, height, channels;
  Divider by_width, by_height, by_channels;  // y: counted in texels along the packed axis of a texture
};

layout(push_constant) uniform Push {
  uint quads;     // quads of y in memory
  uint elements;  // elements of y in memory
  Side x, y;
  Strides x_strides;
  float scale;  // scale of the integers
  int zero_point;
} push;

// A position is uvec4(n, c, h, w).

uint take(inout uint rest, Divider by, uint size) {
  const uint quotient = divide(rest, by);
  const uint digit = rest - quotient * size;
  rest = quotient;
  return digit;
}

uint take_width(inout uint rest, uint size) { return take(rest, push.y.by_width, size); }
uint take_height(inout uint rest, uint size) { return take(rest, push.y.by_height, size); }
uint take_channels(inout uint rest, uint size) { return take(rest, push.y.by_channels, size); }

uint blocks(uint size) { return (size + 3u) / 4u; }

// The position in the tensor of the first element of this texel; texels are counted along x, y, z.
uvec4 position_of_texel(uint texel) {
  uint rest = texel;
  uvec4 at = uvec4(0u);
  if (y_order == ORDER_WP) {
    at.w = 4u * take_width(rest, blocks(push.y.width));
    at.z = take_height(rest, push.y.height);
    at.y = take_channels(rest, push.y.channels);
  } else if (y_order == ORDER_HP) {
    at.w = take_width(rest, push.y.width);
    at.z = 4u * take_height(rest, blocks(push.y.height));
    at.y = take_channels(rest, push.y.channels);
  } else {
    at.w = take_width(rest, push.y.width);
    at.z = take_height(rest, push.y.height);
    at.y = 4u * take_channels(rest, blocks(push.y.channels));
  }
  at.x = rest;
  return at;
}

// The position in the tensor of the element at this place of a float buffer.
uvec4 position_of_element(uint element) {
  uint rest = element;
  uvec4 at;
  if (y_order == ORDER_WP) {
    at.w = take_width(rest, push.y.width);
    at.z = take_height(rest, push.y.height);
    at.y = take_channels(rest, push.y.channels);
  } else if (y_order == ORDER_HP) {
    at.z = take_height(rest, push.y.height);
    at.w = take_width(rest, push.y.width);
    at.y = take_channels(rest, push.y.channels);
  } else {
    at.y = take_channels(rest, push.y.channels);
    at.w = take_width(rest, push.y.width);
    at.z = take_height(rest, push.y.height);
  }
  at.x = rest;
  return at;
}

uvec4 position_in_x(uvec4 at) {
#if MAP == MAP_VIEW
  uint rest = ((at.x * push.y.channels + at.y) * push.y.height + at.z) * push.y.width + at.w;
  uvec4 source;
  source.w = take(rest, push.x.by_width, push.x.width);
  source.z = take(rest, push.x.by_height, push.x.height);
  source.y = take(rest, push.x.by_channels, push.x.channels);
  source.x = rest;
  return source;
#elif MAP == MAP_SHUFFLE
  const uvec2 place = at.zw % upscale;
  return uvec4(at.x, at.y * (upscale * upscale) + place.x * upscale + place.y, at.zw / upscale);
#else
  return uvec4(at[n_from], at[c_from], at[h_from], at[w_from]);
#endif
}

#if X_TYPE == TYPE_INT8
int load_integer(uvec4 at) {
  const uint axis_lane = x_packed_axis == AXIS_W ? at.w : at.y;
  const uint word = guard_words + offset_of(push.x_strides, at.x, at.wzy);
  return bitfieldExtract(int(x[word]), int(axis_lane % 4u) * 8, 8);
}
#else
float load_real(uvec4 at) {
#if X_STORAGE == STORAGE_BUFFER
  const uint place = offset_of(push.x_strides, at.x, at.wzy);
#if X_TYPE == TYPE_F16
  return unpackHalf2x16(x[guard_words + place / 2u])[place % 2u];
#else
  return uintBitsToFloat(x[guard_words + place]);
#endif
#else
  const ivec3 texel = texel_of(push.x_strides, at.x, at.wzy, x_packed_axis);
  return imageLoad(x, X_TEXEL(texel))[at.wzy[x_packed_axis] % 4u];
#endif
}
#endif

float value_at(uvec4 at) {
#if X_TYPE == TYPE_INT8
  return product(push.scale, float(load_integer(position_in_x(at)) - push.zero_point));
#else
  return load_real(position_in_x(at));
#endif
}

// The four values of a quad; padding repeats the first element.
vec4 values_of(uint quad) {
  vec4 values;
#if Y_STORAGE == STORAGE_BUFFER && !Y_WHOLE
  for (uint i = 0u; i < 4u; ++i) {
    values[i] = value_at(position_of_element(min(quad * 4u + i, push.elements - 1u)));
  }
#else
  const uvec4 size = uvec4(~0u, push.y.channels, push.y.height, push.y.width);
#if Y_STORAGE == STORAGE_BUFFER
  const uvec4 first = position_of_element(quad * 4u);
#else
  const uvec4 first = min(position_of_texel(quad), size - 1u);
#endif
  const uint dim = y_order == ORDER_WP ? 3u : y_order == ORDER_HP ? 2u : 1u;
  for (uint i = 0u; i < 4u; ++i) {
    uvec4 at = first;
    at[dim] += i;
    values[i] = value_at(min(at, size - 1u));
  }
#endif
  return values;
}

void store(uint quad, vec4 values) {
#if Y_STORAGE == STORAGE_BUFFER
#if Y_TYPE == TYPE_F16
  const uvec2 words = pack_halves(values);
  const uint per_word = 2u;
#else
  const uvec4 words = floatBitsToUint(values);
  const uint per_word = 1u;
#endif
#if Y_WHOLE
  y[guard_words * per_word / 4u + quad] = words;
#else
  for (uint i = 0u; i < 4u / per_word; ++i) {
    if (quad * 4u + i * per_word < push.elements) y[guard_words + quad * (4u / per_word) + i] = words[i];
  }
#endif
#else
#if Y_TYPE == TYPE_F16
  values = overflowed_halves(values);
#endif
  const uvec3 size = uvec3(push.y.width, push.y.height, push.y.channels);
  const uint axis = y_order == ORDER_WP ? AXIS_W : y_order == ORDER_HP ? AXIS_H : AXIS_C;
  uvec3 extent = size;
  extent[axis] = blocks(extent[axis]);
  const uvec4 at = position_of_texel(quad);
  uvec3 texel = at.wzy;
  texel[axis] /= 4u;
  texel.z += at.x * extent.z;
  imageStore(y, Y_TEXEL(ivec3(texel)), values);
#endif
}

void main() {
  const uint quad = flat_invocation();
  if (quad >= push.quads) return;
  store(quad, values_of(quad));
}
