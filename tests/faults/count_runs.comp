#version 450
#extension GL_GOOGLE_include_directive : require

// Counts how often a program has run since its set-up, which defines RESET.

#include "faults.glslh"

layout(set = 0, binding = 0) buffer Runs { uint runs[]; };

void main() {
#ifdef RESET
  runs[guard_words] = 0u;
#else
  runs[guard_words] += 1u;
#endif
}
