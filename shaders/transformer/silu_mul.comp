#version 450
#extension GL_GOOGLE_include_directive : require

// y = g / (1 + exp(-g)) * u.
//
// TEXTURE, F16, WHOLE_QUADS: see elementwise/float_operands.glslh

#include "common/quantize.glslh"

// exp(-g) reaches 2^126 here, beyond which the precision of a quotient is not defined; the gate is below |g| 2^-126.
const float least_gate = -87.33654;

// A NaN is found by its bits: compilers may take `a < b` for `!(a >= b)`.
float joined(float gate, float value) {
  if (is_nan(gate)) return uintBitsToFloat(0x7fc00000u);
  const float factor = gate < least_gate ? 0.0 : gate / sum(1.0, exp(-gate));
  return product(factor, value);
}

#include "elementwise/float_operands.glslh"
