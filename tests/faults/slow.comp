#version 450
#extension GL_GOOGLE_include_directive : require

// Takes its time, and ends: so many rounds of xorshift in each workgroup, each round needing the one before.

#include "faults.glslh"

layout(set = 0, binding = 0) writeonly buffer Y { uint y[]; };

layout(push_constant) uniform Push {
  uint rounds;  // at most 65535: lavapipe leaves any loop after so many
} push;

void main() {
  uint value = gl_WorkGroupID.x + 1u;
  for (uint i = 0u; i < push.rounds; ++i) {
    value ^= value << 13;
    value ^= value >> 17;
    value ^= value << 5;
  }
  y[guard_words + gl_WorkGroupID.x] = value;
}
