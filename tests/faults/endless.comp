#version 450
#extension GL_GOOGLE_include_directive : require

// Waits for somebody to change its input. Nobody does.

#include "faults.glslh"

layout(set = 0, binding = 0) volatile readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) writeonly buffer W { uint w[]; };
layout(set = 0, binding = 2) writeonly buffer Y { int y[]; };

void main() {
  const uint before = x[guard_words];
  int rounds = 0;
  while (x[guard_words] == before) ++rounds;
  y[guard_words] = rounds;
}
