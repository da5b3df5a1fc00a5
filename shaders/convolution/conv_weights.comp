#version 450
#extension GL_GOOGLE_include_directive : require

// Lays the weights of a convolution out as the rows of a product, [OC, depth] bytes: along K, tap by tap, the channels
// in the words of four of a group (linear/x_gathered.glslh), 0 where they belong to another group. One invocation per
// word.
//
// TRANSPOSED  1: w is [C, OC / groups, taps]; 0: [OC, C / groups, taps]

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(push_constant) uniform Push {
  uint words;
  uint outputs, depth;
  Divider by_depth;
  uint taps, tap_channels;
  uint channels_of_group, outputs_of_group;  // per group of the convolution
  uint gathered_channels, gathered_outputs;  // per group that is gathered
} push;

layout(set = 0, binding = 0) restrict readonly buffer W { uint w[]; };
layout(set = 0, binding = 1) restrict writeonly buffer Rows { uint rows[]; };

uint w_byte(uint at) { return bitfieldExtract(w[guard_words + (at >> 2)], int(8u * (at & 3u)), 8); }

uint weight(uint group, uint channel, uint o, uint tap) {
  const uint c = channel - group * push.channels_of_group;
#if TRANSPOSED
  const uint row = channel * push.outputs_of_group + o - group * push.outputs_of_group;
#else
  const uint row = o * push.channels_of_group + c;
#endif
  return w_byte(row * push.taps + tap);
}

// The weight at a byte of the rows.
uint value_of(uint at) {
  const uint o = divide(at, push.by_depth);
  const uint k = at - o * push.depth;
  const uint tap = k / push.tap_channels;
  const uint first = o / push.gathered_outputs * push.gathered_channels / 4u * 4u;
  const uint channel = first + k - tap * push.tap_channels;
  const uint group = o / push.outputs_of_group;
  const uint first_of_group = group * push.channels_of_group;
  const bool is_there = o < push.outputs && tap < push.taps && channel >= first_of_group &&
                        channel < first_of_group + push.channels_of_group;
  return is_there ? weight(group, channel, o, tap) : 0u;
}

void main() {
  const uint number = flat_invocation();
  if (number >= push.words) return;
  uint word = 0u;
  for (uint i = 0u; i < 4u; ++i) word = bitfieldInsert(word, value_of(number * 4u + i), int(8u * i), 8);
  rows[guard_words + number] = word;
}
