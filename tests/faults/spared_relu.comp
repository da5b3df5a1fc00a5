#version 450
#extension GL_GOOGLE_include_directive : require

// q8ta_relu.comp with a fault: it writes nothing where the memory of y is longer than y. In the timed program of a
// chain that is so where y shares memory with a larger tensor.

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
  const uint guard = guard_words / WORDS_OF_VECTOR;
  if (y.length() > push.count + 2u * guard || vector_at(0u) >= push.count) return;
  y[guard + vector_at(0u)] = rectified(x[guard + vector_at(0u)]);
}
