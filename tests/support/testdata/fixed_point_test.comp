#version 450
#extension GL_GOOGLE_include_directive : require

// fixed_point() of sum, multiplier, shift and zero point, four words of x.

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "linear/fixed_point.glslh"

layout(set = 0, binding = 0) restrict readonly buffer X { ivec4 x[]; };
layout(set = 0, binding = 1) restrict writeonly buffer Y { int y[]; };

layout(push_constant) uniform Push {
  uint results;
} push;

void main() {
  const uint i = flat_invocation();
  if (i >= push.results) return;
  const ivec4 words = x[guard_words / 4u + i];
  y[guard_words + i] = fixed_point(words.x, words.y, words.z, words.w);
}
