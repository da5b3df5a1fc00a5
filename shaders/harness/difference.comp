#version 450
#extension GL_GOOGLE_include_directive : require

// Finds whether parts of two buffers differ: four words per invocation, a workgroup apart.

#include "common/indexing.glslh"

#define WORDS_EACH 4u

layout(push_constant) uniform Push {
  uint words;
  uint first_a;  // where the parts begin, in words
  uint first_b;
} push;

layout(set = 0, binding = 0) restrict readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) restrict readonly buffer B { uint b[]; };
layout(set = 0, binding = 2) restrict buffer Found { uint difference; };

void main() {
  uint differing = 0u;
  for (uint k = 0u; k < WORDS_EACH; ++k) {
    const uint i = (flat_workgroup() * WORDS_EACH + k) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (i < push.words) differing |= a[push.first_a + i] ^ b[push.first_b + i];
  }
  if (differing != 0u) atomicOr(difference, 1u);
}
