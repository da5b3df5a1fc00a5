#version 450
#extension GL_GOOGLE_include_directive : require

// Packs the weights of a depthwise convolution, [channels, kernel_h, kernel_w] of int8, as conv_depthwise.comp reads
// them: four numbers in 16 bytes, one for each channel of a quad, the quads of a tap side by side. Numbers past the
// last channel are 0. Each invocation writes 16 bytes.
//
// PRODUCTS  as there: numbers are ints or floats, one per tap, or words of up to four taps of a row of the kernel

#include "common/guards.glslh"
#include "common/indexing.glslh"

#define PRODUCTS_FLOAT 1
#define PRODUCTS_DOT 2

layout(constant_id = 4) const uint taps_of_number = 1u;

layout(push_constant) uniform Push {
  uint channels;
  uint numbers;  // numbers per channel
  uint quads;    // quads of channels
  Divider by_quads;
} push;

layout(set = 0, binding = 0) restrict readonly buffer W { uint w[]; };
layout(set = 0, binding = 1) restrict writeonly buffer PackedW { ivec4 packed_w[]; };

int stored_value(uint at) { return bitfieldExtract(int(w[guard_words + (at >> 2)]), int(8u * (at & 3u)), 8); }

int number_of(uint channel, uint index) {
  const uint at = (channel * push.numbers + index) * taps_of_number;
#if PRODUCTS == PRODUCTS_DOT
  int word = 0;
  for (uint i = 0u; i < taps_of_number; ++i) word = bitfieldInsert(word, stored_value(at + i), int(8u * i), 8);
  return word;
#elif PRODUCTS == PRODUCTS_FLOAT
  return floatBitsToInt(float(stored_value(at)));
#else
  return stored_value(at);
#endif
}

void main() {
  const uint number = flat_invocation();
  if (number >= push.numbers * push.quads) return;
  const uint index = divide(number, push.by_quads);
  const uint quad = number - index * push.quads;
  ivec4 numbers = ivec4(0);
  for (uint i = 0u; i < 4u; ++i) {
    const uint channel = quad * 4u + i;
    if (channel < push.channels) numbers[i] = number_of(channel, index);
  }
  packed_w[guard_words / 4u + number] = numbers;
}
