#version 450
#extension GL_GOOGLE_include_directive : require

// y = x, word by word, one invocation each.

#include "faults.glslh"

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) writeonly buffer Y { uint y[]; };

layout(push_constant) uniform Push {
  uint words;
} push;

void main() {
  const uint i = flat_invocation();
  if (i >= push.words) return;
  y[guard_words + i] = x[guard_words + i];
}
