#version 450
#extension GL_GOOGLE_include_directive : require

// Writes words that look random, so that no hardware on the way to memory can compress them.

#include "common/indexing.glslh"

layout(push_constant) uniform Push {
  uint vectors;
} push;

layout(set = 0, binding = 0) restrict writeonly buffer A { uvec4 a[]; };
layout(set = 0, binding = 1) restrict writeonly buffer B { uvec4 b[]; };

// Mixes bits by multiplications and shifts, so that every bit of the result depends on the argument's.
uvec4 mix_bits(uvec4 x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

void main() {
  const uint i = flat_invocation();
  if (i >= push.vectors) return;
  const uvec4 first = 8u * i + uvec4(0u, 1u, 2u, 3u);
  a[i] = mix_bits(first);
  b[i] = mix_bits(first + 4u);
}
