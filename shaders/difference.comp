#version 450
#extension GL_GOOGLE_include_directive : require

// Counts the words in which parts of two buffers differ.

#include "common/indexing.glslh"

layout(push_constant) uniform Push {
  uint words;
  uint first_a;  // where the parts begin, in words
  uint first_b;
} push;

layout(set = 0, binding = 0) restrict readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) restrict readonly buffer B { uint b[]; };
layout(set = 0, binding = 2) restrict buffer Found { uint differences; };

void main() {
  const uint i = flat_invocation();
  if (i < push.words && a[push.first_a + i] != b[push.first_b + i]) atomicAdd(differences, 1u);
}
