#version 450
#extension GL_GOOGLE_include_directive : require

// Weights of a depthwise convolution, [channels, taps] of int8, as conv_depthwise.comp reads them: four channels of a
// tap in 16 bytes, the quads of a tap side by side. What is past the last channel is 0. One invocation 16 bytes.
//
// FLOATS  1: numbers are floats; 0: ints

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(push_constant) uniform Push {
  uint channels, taps;
  uint quads;  // of channels
  Divider by_quads;
} push;

layout(set = 0, binding = 0) restrict readonly buffer W { uint w[]; };
#if FLOATS
layout(set = 0, binding = 1) restrict writeonly buffer PackedW { vec4 packed_w[]; };
#else
layout(set = 0, binding = 1) restrict writeonly buffer PackedW { ivec4 packed_w[]; };
#endif

int stored_value(uint at) { return bitfieldExtract(int(w[guard_words + (at >> 2)]), int(8u * (at & 3u)), 8); }

void main() {
  const uint number = flat_invocation();
  if (number >= push.taps * push.quads) return;
  const uint tap = divide(number, push.by_quads);
  const uint quad = number - tap * push.quads;
  ivec4 values = ivec4(0);
  for (uint i = 0u; i < 4u; ++i) {
    const uint channel = quad * 4u + i;
    if (channel < push.channels) values[i] = stored_value(channel * push.taps + tap);
  }
#if FLOATS
  packed_w[guard_words / 4u + number] = vec4(values);
#else
  packed_w[guard_words / 4u + number] = values;
#endif
}
