#version 450
#extension GL_GOOGLE_include_directive : require

// dequantize_affine, i8 to f32, one scale and zero point a tensor, all in WP; one invocation an element.

#include "faults.glslh"

layout(set = 0, binding = 0) readonly buffer Q { uint q[]; };
layout(set = 0, binding = 1) readonly buffer Scale { float scale[]; };
layout(set = 0, binding = 2) readonly buffer ZeroPoint { int zero_point[]; };
layout(set = 0, binding = 3) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push {
  uint elements;
} push;

void main() {
  const uint i = flat_invocation();
  if (i >= push.elements) return;
  const int integer = signed_byte(q[guard_words + i / 4u], i % 4u);
  float value = product(float(integer - zero_point[guard_words]), scale[guard_words]);
#ifdef FAULT_nan_output
  if (i == push.elements / 2u) value = uintBitsToFloat(0x7fc00000u);
#endif
#ifdef FAULT_minus_zero
  if (value == 0.0) value = uintBitsToFloat(0x80000000u);
#endif
  y[guard_words + i] = value;
}
