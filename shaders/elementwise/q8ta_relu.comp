#version 450
#extension GL_GOOGLE_include_directive : require

// y = clamp(roundEven(max((q - x_zero_point) * x_scale, 0) * (1 / y_scale)) + y_zero_point) between int8x4 buffers of
// one layout: word by word, including padding. relayout.comp computes it between two layouts.
//
// WHOLE_QUADS     1: the number of words is a multiple of 4, and a vector is four of them; 0: one word
// ROUNDS_TO_EVEN  see common/rounding.glslh

#include "common/guards.glslh"
#include "common/vectors.glslh"
#include "common/requantize.glslh"
#include "common/word_vectors.glslh"

layout(push_constant) uniform Push {
  uint count;  // vectors
  Requantization requantization;
} push;

layout(set = 0, binding = 0) restrict readonly buffer X { VECTOR x[]; };
layout(set = 0, binding = 1) restrict writeonly buffer Y { VECTOR y[]; };

VECTOR rectified(VECTOR words) {
#if WHOLE_QUADS
  for (uint i = 0u; i < 4u; ++i) words[i] = rectified_word(words[i], push.requantization);
  return words;
#else
  return rectified_word(words, push.requantization);
#endif
}

void main() {
  VECTOR words[MOST_VECTORS];
  uint count = 0u;
  for (; count < vectors_per_invocation; ++count) {
    if (vector_at(count) >= push.count) break;
    words[count] = x[guard_words / WORDS_OF_VECTOR + vector_at(count)];
  }
  for (uint k = 0u; k < vectors_per_invocation; ++k) {
    if (k >= count) return;
    y[guard_words / WORDS_OF_VECTOR + vector_at(k)] = rectified(words[k]);
  }
}
