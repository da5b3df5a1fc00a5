#version 450
#extension GL_GOOGLE_include_directive : require

// Nothing: what a dispatch costs whatever it does.

#include "common/indexing.glslh"

void main() {}
