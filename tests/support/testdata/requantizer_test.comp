#version 450
#extension GL_GOOGLE_include_directive : require

// multiplier, shift and bias of the channels whose x_scale, w_scale, y_scale and bias are four words of x.

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "linear/requantizer.glslh"

layout(set = 0, binding = 0) restrict readonly buffer X { uvec4 x[]; };
layout(set = 0, binding = 1) restrict writeonly buffer Y { int y[]; };

layout(push_constant) uniform Push {
  uint channels;
} push;

void main() {
  const uint n = flat_invocation();
  if (n >= push.channels) return;
  const uvec4 words = x[guard_words / 4u + n];
  const Requantizer made = requantizer(words.x, words.y, words.z, words.w);
  y[guard_words + 3u * n] = made.multiplier;
  y[guard_words + 3u * n + 1u] = made.shift;
  y[guard_words + 3u * n + 2u] = made.bias;
}
