#version 450
#extension GL_GOOGLE_include_directive : require

// Leaves a mark, which no poison is, for the next run of the program in the same memory.

#include "faults.glslh"

layout(set = 0, binding = 0) writeonly buffer Mark { uint mark[]; };

void main() { mark[guard_words] = 12345u; }
