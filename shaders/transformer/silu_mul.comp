#version 450
#extension GL_GOOGLE_include_directive : require

// y = g / (1 + exp(-g)) * u between equal buffers, word by word. Padding is computed, too.
//
// F16          the values are f16 instead of f32: two in a word
// WHOLE_QUADS  1: the number of words is a multiple of 4, and a vector is four of them; 0: one word

#include "common/guards.glslh"
#include "common/packing.glslh"
#include "common/quantize.glslh"
#include "common/word_vectors.glslh"

layout(push_constant) uniform Push {
  uint count;  // vectors
} push;

layout(set = 0, binding = 0) restrict readonly buffer G { VECTOR g[]; };
layout(set = 0, binding = 1) restrict readonly buffer U { VECTOR u[]; };
layout(set = 0, binding = 2) restrict writeonly buffer Y { VECTOR y[]; };

// exp(-g) reaches 2^126 here, beyond which the precision of a quotient is not defined; the gate is below |g| 2^-126.
const float least_gate = -87.33654;

// A NaN is found by its bits: compilers may take `a < b` for `!(a >= b)`.
float gated(float gate, float value) {
  if (is_nan(gate)) return uintBitsToFloat(0x7fc00000u);
  const float factor = gate < least_gate ? 0.0 : gate / sum(1.0, exp(-gate));
  return product(factor, value);
}

uint gated_word(uint gates, uint values) {
#if F16
  const vec2 by = unpackHalf2x16(gates), of = unpackHalf2x16(values);
  const vec2 halves = vec2(gated(by.x, of.x), gated(by.y, of.y));
  return pack_halves(halves.xyxy).x;
#else
  return floatBitsToUint(gated(uintBitsToFloat(gates), uintBitsToFloat(values)));
#endif
}

VECTOR gated_vector(VECTOR gates, VECTOR values) {
#if WHOLE_QUADS
  for (uint i = 0u; i < 4u; ++i) values[i] = gated_word(gates[i], values[i]);
  return values;
#else
  return gated_word(gates, values);
#endif
}

void main() {
  VECTOR gates[MOST_VECTORS], values[MOST_VECTORS];
  uint count = 0u;
  for (; count < vectors_per_invocation; ++count) {
    if (vector_at(count) >= push.count) break;
    gates[count] = g[guard_words / WORDS_OF_VECTOR + vector_at(count)];
    values[count] = u[guard_words / WORDS_OF_VECTOR + vector_at(count)];
  }
  for (uint k = 0u; k < vectors_per_invocation; ++k) {
    if (k >= count) return;
    y[guard_words / WORDS_OF_VECTOR + vector_at(k)] = gated_vector(gates[k], values[k]);
  }
}
