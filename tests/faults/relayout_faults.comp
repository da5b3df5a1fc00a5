#version 450
#extension GL_GOOGLE_include_directive : require

// q8ta_clone from 4C1W to 4C1W, q8ta_quantize and q8ta_dequantize between 4C1W and a 3D texture packed along channels;
// one invocation a word: four channels of a pixel.
//
// CLONE, QUANTIZE or DEQUANTIZE is 1.

#include "faults.glslh"

#ifdef QUANTIZE
layout(set = 0, binding = 0, rgba32f) uniform readonly image3D x;
#else
layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
#endif
#ifdef DEQUANTIZE
layout(set = 0, binding = 1, rgba32f) uniform writeonly image3D y;
#else
layout(set = 0, binding = 1) writeonly buffer Y { uint y[]; };
#endif

layout(push_constant) uniform Push {
  uint words;
  uint width, height, blocks;  // of one batch
  float scale;                 // of the integers; quantizing: its reciprocal
  int zero_point;
} push;

float rounded(float value) {
#ifdef FAULT_half_away
  return value < 0.0 ? ceil(value - 0.5) : floor(value + 0.5);
#else
  return roundEven(value);
#endif
}

// Where a word of 4C1W, ((n * H + h) * C4 + c / 4) * W + w, lies in a texture.
ivec3 texel_of_word(uint word) {
  const uint w = word % push.width;
  const uint block = word / push.width % push.blocks;
  const uint row = word / push.width / push.blocks;
  const uint batch = row / push.height;
  return ivec3(w, row % push.height, batch * push.blocks + block);
}

#ifdef QUANTIZE
uint value_of(uint word) {
  const vec4 reals = imageLoad(x, texel_of_word(word));
  ivec4 integers;
  for (uint i = 0u; i < 4u; ++i) {
    const float moved = rounded(product(reals[i], push.scale)) + float(push.zero_point);
    integers[i] = int(clamp(moved, -128.0, 127.0));
  }
  return pack_bytes(integers);
}
#else
uint value_of(uint word) {
#ifdef FAULT_reads_guard
  return x[word % guard_words];
#endif
  const uint value = x[guard_words + word];
#ifdef FAULT_lanes_swapped
  return (value & 0x00ffff00u) | (value << 24) | (value >> 24);
#else
  return value;
#endif
}
#endif

// Whether a kernel that forgets some words leaves this one 0.
bool is_forgotten(uint word) {
  const ivec3 texel = texel_of_word(word);
#if defined(FAULT_only_batch_0)
  return uint(texel.z) >= push.blocks;
#elif defined(FAULT_tail_block_dropped)
  return uint(texel.z) % push.blocks == push.blocks - 1u;
#else
  return false;
#endif
}

void main() {
  const uint word = flat_invocation();
  if (word >= push.words) return;
  const uint value = is_forgotten(word) ? 0u : value_of(word);
#ifdef DEQUANTIZE
#ifdef FAULT_zero_point_off_by_one
  const int zero_point = push.zero_point + 1;
#else
  const int zero_point = push.zero_point;
#endif
  vec4 reals;
  for (uint i = 0u; i < 4u; ++i) reals[i] = product(push.scale, float(signed_byte(value, i) - zero_point));
  imageStore(y, texel_of_word(word), reals);
#else
  y[guard_words + word] = value;
#ifdef FAULT_guard_copied
  if (word == 0u) y[guard_words + push.words] = x[guard_words + push.words];
#endif
#endif
}
