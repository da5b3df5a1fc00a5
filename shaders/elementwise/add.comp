#version 450
#extension GL_GOOGLE_include_directive : require

// y = a + b between equal buffers, word by word. Padding is computed, too.
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

layout(set = 0, binding = 0) restrict readonly buffer A { VECTOR a[]; };
layout(set = 0, binding = 1) restrict readonly buffer B { VECTOR b[]; };
layout(set = 0, binding = 2) restrict writeonly buffer Y { VECTOR y[]; };

uint added_word(uint one, uint other) {
#if F16
  const vec2 left = unpackHalf2x16(one), right = unpackHalf2x16(other);
  return pack_halves(vec4(sum(left.x, right.x), sum(left.y, right.y), 0.0, 0.0)).x;
#else
  return floatBitsToUint(sum(uintBitsToFloat(one), uintBitsToFloat(other)));
#endif
}

VECTOR added_vector(VECTOR one, VECTOR other) {
#if WHOLE_QUADS
  for (uint i = 0u; i < 4u; ++i) one[i] = added_word(one[i], other[i]);
  return one;
#else
  return added_word(one, other);
#endif
}

void main() {
  VECTOR ones[MOST_VECTORS], others[MOST_VECTORS];
  uint count = 0u;
  for (; count < vectors_per_invocation; ++count) {
    if (vector_at(count) >= push.count) break;
    ones[count] = a[guard_words / WORDS_OF_VECTOR + vector_at(count)];
    others[count] = b[guard_words / WORDS_OF_VECTOR + vector_at(count)];
  }
  for (uint k = 0u; k < vectors_per_invocation; ++k) {
    if (k >= count) return;
    y[guard_words / WORDS_OF_VECTOR + vector_at(k)] = added_vector(ones[k], others[k]);
  }
}
