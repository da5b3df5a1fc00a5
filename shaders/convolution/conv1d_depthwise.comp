#version 450
#extension GL_GOOGLE_include_directive : require

// A depthwise convolution along one axis: y[n, c, i] = sum over the taps of x[n, c, i * stride - padding + tap *
// dilation] * w[c, tap] + bias[c]. An invocation computes four neighbours of y. x comes from the cache, where
// neighbouring invocations find what others have read.
//
// TEXTURE    3: x and y are width-packed 3D textures; 0: buffers, as w is
// F16        x, w and y are f16 instead of f32
// ONE_ROW    1: rows of y are whole quads, or texels, so that the four values have one channel
// WHOLE      1: y is whole quads, and an array of them
// ROLLING    1: ONE_ROW, and stride and dilation are equal: a value that one output meets at a tap is what the output
//            before it meets at the next one, and is read once
// HAS_BIAS   1: there is a bias

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/packing.glslh"
#include "common/quantize.glslh"
#if TEXTURE
#define REAL_F16 F16
#include "common/half_texels.glslh"
#include "common/texels.glslh"
#endif

layout(constant_id = 4) const uint kernel = 1u;
layout(constant_id = 5) const int stride = 1;
layout(constant_id = 6) const int dilation = 1;
layout(constant_id = 7) const int padding = 0;

layout(push_constant) uniform Push {
  uint quads, values;  // of y; TEXTURE: with the padding of its rows, as y_length
  uint y_length;
  Divider by_y_length;
  uint x_length;
  uint channels;
  Divider by_channels;
} push;

#if TEXTURE
layout(set = 0, binding = 0) uniform sampler3D x;
#else
layout(set = 0, binding = 0) restrict readonly buffer X { uint x[]; };
#endif
layout(set = 0, binding = 1) restrict readonly buffer W { uint w[]; };
#if HAS_BIAS
layout(set = 0, binding = 2) restrict readonly buffer Bias { float bias[]; };
#endif
#if TEXTURE
layout(set = 0, binding = 2 + HAS_BIAS, REAL_TEXEL) uniform restrict writeonly REAL_IMAGE y;
#elif WHOLE && F16
layout(set = 0, binding = 2 + HAS_BIAS) restrict writeonly buffer Y { uvec2 y[]; };
#elif WHOLE
layout(set = 0, binding = 2 + HAS_BIAS) restrict writeonly buffer Y { vec4 y[]; };
#else
layout(set = 0, binding = 2 + HAS_BIAS) restrict writeonly buffer Y { uint y[]; };
#endif

#if F16
float value_in(uint word, uint at) { return unpackHalf2x16(word)[at & 1u]; }
uint word_of(uint at) { return guard_words + (at >> 1); }
#else
float value_in(uint word, uint at) { return uintBitsToFloat(word); }
uint word_of(uint at) { return guard_words + at; }
#endif

float w_value(uint channel, uint tap) {
  const uint at = channel * kernel + tap;
  return value_in(w[word_of(at)], at);
}

// A row of x and of y is one channel of an image: its number, or in textures uvec2(channel, image).
#if TEXTURE
#define ROW uvec2
#define ROW_OF(number, channel) uvec2(channel, divide(number, push.by_channels))
#else
#define ROW uint
#define ROW_OF(number, channel) number
#endif
struct Place {
  ROW row;
  uint channel;
  int first;  // the place of x that the first tap meets
};

Place place_of(uint number) {
  const uint row = divide(number, push.by_y_length);
  const uint channel = row - divide(row, push.by_channels) * push.channels;
  return Place(ROW_OF(row, channel), channel, int(number - row * push.y_length) * stride - padding);
}

bool is_inside(int place) { return place >= 0 && place < int(push.x_length); }

// Where place is not inside, a value of the row.
#if TEXTURE
float x_near(uvec2 row, int place) {
  const uint at = uint(clamp(place, 0, int(push.x_length) - 1));
  return texelFetch(x, ivec3(at / 4u, row), 0)[at & 3u];
}
#else
float x_near(uint row, int place) {
  const uint at = row * push.x_length + uint(clamp(place, 0, int(push.x_length) - 1));
  return value_in(x[word_of(at)], at);
}
#endif

// The product is replaced, not multiplied by 0: w may be NaN.
float product_or_zero(float value, float weight, bool inside) { return inside ? value * weight : 0.0; }

float biased(float value, uint channel) {
#if HAS_BIAS
  return sum(value, bias[guard_words + channel]);
#else
  return value;
#endif
}

#if ROLLING
vec4 four_of(uint first) {
  const Place place = place_of(first);
  vec4 sums = vec4(0.0), window;
  bvec4 inside;
  for (uint i = 1u; i < 4u; ++i) {
    const int at = place.first + int(i - 1u) * stride;
    window[i] = x_near(place.row, at);
    inside[i] = is_inside(at);
  }
  for (uint tap = 0u; tap < kernel; ++tap) {
    const int at = place.first + int(tap + 3u) * stride;
    window = vec4(window.yzw, x_near(place.row, at));
    inside = bvec4(inside.yzw, is_inside(at));
    const float weight = w_value(place.channel, tap);
    for (uint i = 0u; i < 4u; ++i) sums[i] += product_or_zero(window[i], weight, inside[i]);
  }
  for (uint i = 0u; i < 4u; ++i) sums[i] = biased(sums[i], place.channel);
  return sums;
}
#else
// Past the last value of y these are values of the last one.
vec4 four_of(uint first) {
  Place places[4];
  for (uint i = 0u; i < 4u; ++i) places[i] = place_of(min(first + i, push.values - 1u));
  vec4 sums = vec4(0.0);
  for (uint tap = 0u; tap < kernel; ++tap) {
    float weight = w_value(places[0].channel, tap);
    for (uint i = 0u; i < 4u; ++i) {
#if !ONE_ROW
      weight = w_value(places[i].channel, tap);
#endif
      const int at = places[i].first + int(tap) * dilation;
      sums[i] += product_or_zero(x_near(places[i].row, at), weight, is_inside(at));
    }
  }
  for (uint i = 0u; i < 4u; ++i) sums[i] = biased(sums[i], places[i].channel);
  return sums;
}
#endif

void store(uint quad, vec4 values) {
#if TEXTURE
  const Place place = place_of(quad * 4u);
  const uint first = quad * 4u - divide(quad * 4u, push.by_y_length) * push.y_length;
  imageStore(y, ivec3(first / 4u, place.row), texel_of_reals(values));
#elif WHOLE && F16
  y[guard_words / 2u + quad] = pack_halves(values);
#elif WHOLE
  y[guard_words / 4u + quad] = values;
#else
#if F16
  const uvec2 words = pack_halves(values);
#else
  const uvec4 words = floatBitsToUint(values);
#endif
  const uint count = words.length();
  for (uint i = 0u; i < count; ++i) {
    const uint word = guard_words + quad * count + i;
    if (word <= word_of(push.values - 1u)) y[word] = words[i];
  }
#endif
}

void main() {
  const uint quad = flat_invocation();
  if (quad >= push.quads) return;
  store(quad, four_of(quad * 4u));
}
