#version 450
#extension GL_GOOGLE_include_directive : require

// q8ta_pixel_shuffle, both tensors in 4C1W; one invocation a word of y: four channels of a pixel.

#include "common/int8x4.glslh"
#include "faults.glslh"

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) writeonly buffer Y { uint y[]; };

layout(constant_id = 16) const uint factor = 2u;

layout(push_constant) uniform Push {
  uint words;  // of y
  uint in_height;
  uint in_width;
  uint in_channels;
  uint channels;  // of y
  int x_zero_point;
  float x_scale;
  float y_inverse;
  float y_zero_point;
  uint requantize;
} push;

int requantized(int integer) {
#ifdef FAULT_requantize_skipped
  return integer;
#endif
  if (push.requantize == 0u) return integer;
  const float real = product(product(float(integer - push.x_zero_point), push.x_scale), push.y_inverse);
  return int(rounded_and_clamped(real, 0.0, push.y_zero_point, -128.0, 127.0));
}

// Value of channel c of x in the pixel (row, w); row counts through the batches.
int input_byte(uint row, uint w, uint c) {
  const Extent extent = Extent(push.in_width, (push.in_channels + 3u) / 4u);
  return signed_byte(x[guard_words + word_index(LAYOUT_4C1W, extent, row, c / 4u, w)], c % 4u);
}

int output_byte(uint row, uint w, uint c) {
  if (c >= push.channels) return 0;
  const uint height = push.in_height * factor;
#ifdef FAULT_only_batch_0
  if (row >= height) return 0;
#endif
  const uint batch = row / height;
  const uint h = row % height;
  const uint in_row = batch * push.in_height + h / factor;
  const int integer = input_byte(in_row, w / factor, (c * factor + h % factor) * factor + w % factor);
#ifdef FAULT_depends_on_padding
  return requantized(integer) ^ (input_byte(in_row, w / factor, push.in_channels) & 1);
#else
  return requantized(integer);
#endif
}

void main() {
  const uint i = flat_invocation();
  if (i >= push.words) return;
#ifdef FAULT_copy_kernel
  y[guard_words + i] = x[guard_words + i];
#else
  const Extent extent = Extent(push.in_width * factor, (push.channels + 3u) / 4u);
  const uint w = i % extent.width;
  const uint block = i / extent.width % extent.blocks;
  const uint row = i / extent.width / extent.blocks;
  const uint c = block * 4u;
  const ivec4 bytes = ivec4(output_byte(row, w, c), output_byte(row, w, c + 1u), output_byte(row, w, c + 2u),
                            output_byte(row, w, c + 3u));
#ifdef FAULT_swapped_layout
  y[guard_words + word_index(LAYOUT_4W4C, extent, row, block, w)] = pack_bytes(bytes);
#else
  y[guard_words + i] = pack_bytes(bytes);
#endif
#endif
}
