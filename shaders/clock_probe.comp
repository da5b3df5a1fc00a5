#version 450
#extension GL_GOOGLE_include_directive : require

// A known amount of work that touches almost no memory: each invocation computes x = x * scale + shift, every
// step waiting for the one before, 16 steps a round. Its time is the number of rounds over the device's clock.
// One word an invocation is stored, so that nothing can be left out.

#include "common/indexing.glslh"

layout(push_constant) uniform Push {
  uint rounds;
  float scale;  // here and not in the code, so that no compiler knows where the series goes
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
  y[i] = x;
}
