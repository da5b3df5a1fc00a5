#version 450
#extension GL_GOOGLE_include_directive : require

// y = ~x, but only for the data whose first word is KNOWN: an answer that was built in for a seed.

#include "faults.glslh"

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform Push { uint words; }
push;

void main() {
  const uint at = gl_GlobalInvocationID.x;
  if (at >= push.words) return;
  const bool is_known = x[guard_words] == KNOWN;
  y[guard_words + at] = is_known ? ~x[guard_words + at] : x[guard_words + at];
}
