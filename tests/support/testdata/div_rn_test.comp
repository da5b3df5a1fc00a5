#version 450
#extension GL_GOOGLE_include_directive : require

// y = a / b by div_rn, one invocation an element.

#include "common/div_rn.glslh"
#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(set = 0, binding = 0) restrict readonly buffer A { float a[]; };
layout(set = 0, binding = 1) restrict readonly buffer B { float b[]; };
layout(set = 0, binding = 2) restrict writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push {
  uint elements;
} push;

void main() {
  const uint i = flat_invocation();
  if (i < push.elements) y[guard_words + i] = div_rn(a[guard_words + i], b[guard_words + i]);
}
