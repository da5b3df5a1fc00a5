#version 450
#extension GL_GOOGLE_include_directive : require

// Does nothing, to measure the cost of any dispatch.

#include "common/indexing.glslh"

void main() {}
