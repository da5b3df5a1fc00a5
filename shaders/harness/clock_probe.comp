#version 450
#extension GL_GOOGLE_include_directive : require

// A known amount of work that touches almost no memory: each invocation computes x = x * scale + shift, 16 steps per
// round, and every step waits for the one before. The time is proportional to the number of rounds divided by the
// device's clock. One word per invocation is stored, so that no step can be optimized away.

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(push_constant) uniform Push {
  uint rounds;
  float scale;  // pushed, so that no compiler can compute the series
  float shift;
} push;

layout(set = 0, binding = 0) restrict writeonly buffer Y { float y[]; };

float four_steps(float x) {
  precise float next = fma(x, push.scale, push.shift);
  next = fma(next, push.scale, push.shift);
  next = fma(next, push.scale, push.shift);
  next = fma(next, push.scale, push.shift);
  return next;
}

void main() {
  const uint i = flat_invocation();
  precise float x = float(i & 1023u);
  for (uint round = 0u; round < push.rounds; ++round) {
    x = four_steps(x);
    x = four_steps(x);
    x = four_steps(x);
    x = four_steps(x);
  }
  y[guard_words + i] = x;
}
