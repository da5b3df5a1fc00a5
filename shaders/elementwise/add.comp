#version 450
#extension GL_GOOGLE_include_directive : require

// y = a + b.
//
// TEXTURE, F16, WHOLE_QUADS: see elementwise/float_operands.glslh

#include "common/quantize.glslh"

float joined(float a, float b) { return sum(a, b); }

#include "elementwise/float_operands.glslh"
