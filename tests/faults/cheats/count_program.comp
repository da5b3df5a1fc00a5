#version 450
#extension GL_GOOGLE_include_directive : require

// Counts the programs that have run in the same memory.

#include "faults.glslh"

layout(set = 0, binding = 0) buffer Memory { uint memory[]; };

void main() {
  const uint count = memory[guard_words];
  memory[guard_words] = count < 1000000u ? count + 1u : 1u;  // poison is more
}
