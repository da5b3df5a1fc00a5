#version 450
#extension GL_GOOGLE_include_directive : require

#include "faults.glslh"

void main() {
  const uint i = flat_invocation();
  undeclared[i] = 0u;
}
