#version 450
#extension GL_GOOGLE_include_directive : require

// y = clamp(roundEven(act(ra + alpha * rb) * (1 / y_scale)) + y_zero_point) with r = (q - zero_point) * scale, each
// step a float32 operation, between int8x4 buffers of one layout; a and b broadcast to y.
//
// WHOLE_QUADS       1: a vector is four words of y, which differ only along the fastest axis; 0: one word
// A_WHOLE, B_WHOLE  1: the four words are neighbours in that operand, too; 0: they are the same word
// ACTIVATION        see common/activation.glslh
// ROUNDS_TO_EVEN    see common/rounding.glslh
//
// The host merges the dims of y, in memory order, into the fewest axes along which the operands differ: one where no
// dim is broadcast. A word of y needs one word of each operand, whose lanes line up, unless the packed dim is
// broadcast: then the word's lowest lane is spread over all four.

#include "common/activation.glslh"
#include "common/guards.glslh"
#include "common/vectors.glslh"
#include "common/requantize.glslh"
#include "common/word_vectors.glslh"

#define MOST_AXES 4u

layout(constant_id = 16) const uint axis_count = MOST_AXES;
layout(constant_id = 17) const bool spreads_a = false;
layout(constant_id = 18) const bool spreads_b = false;

struct Operand {
  int zero_point;
  float scale;
};

struct Steps {  // in words, from one index of an axis to the next; 0 where the operand is broadcast
  uint a, b;
};

struct Axis {
  uint size;  // vectors along the axis
  Divider by_size;
  Steps steps;
};

layout(push_constant) uniform Push {
  uint count;  // vectors
  Operand a, b;
  float alpha;
  float y_inverse_scale;
  int y_zero_point;
  Steps slowest;             // steps of the slowest axis
  Axis axes[MOST_AXES - 1];  // the others, fastest first
} push;

#if A_WHOLE
layout(set = 0, binding = 0) restrict readonly buffer A { VECTOR a[]; };
#else
layout(set = 0, binding = 0) restrict readonly buffer A { uint a[]; };
#endif
#if B_WHOLE
layout(set = 0, binding = 1) restrict readonly buffer B { VECTOR b[]; };
#else
layout(set = 0, binding = 1) restrict readonly buffer B { uint b[]; };
#endif
layout(set = 0, binding = 2) restrict writeonly buffer Y { VECTOR y[]; };

// The first words of the operands that a vector of y needs.
Steps words_of(uint vector) {
  Steps word = Steps(0u, 0u);
  uint rest = vector;
  for (uint i = 0u; i + 1u < axis_count; ++i) {
    const uint quotient = divide(rest, push.axes[i].by_size);
    const uint index = rest - quotient * push.axes[i].size;
    word.a += index * push.axes[i].steps.a;
    word.b += index * push.axes[i].steps.b;
    rest = quotient;
  }
  return Steps(word.a + rest * push.slowest.a, word.b + rest * push.slowest.b);
}

VECTOR spread(VECTOR words) { return (words & 0xffu) * 0x01010101u; }

VECTOR load_a(uint word) {
#if A_WHOLE
  const VECTOR words = a[(guard_words + word) / WORDS_OF_VECTOR];
#else
  const VECTOR words = VECTOR(a[guard_words + word]);
#endif
  return spreads_a ? spread(words) : words;
}

VECTOR load_b(uint word) {
#if B_WHOLE
  const VECTOR words = b[(guard_words + word) / WORDS_OF_VECTOR];
#else
  const VECTOR words = VECTOR(b[guard_words + word]);
#endif
  return spreads_b ? spread(words) : words;
}

// The host knows that no step gives a NaN.
uint sum_of_words(uint a_word, uint b_word) {
  const vec4 a_integers = signed_bytes_less(a_word, ivec4(push.a.zero_point));
  const vec4 b_integers = signed_bytes_less(b_word, ivec4(push.b.zero_point));
  vec4 sums;
  for (uint i = 0u; i < 4u; ++i) {
    const float b_real = product(b_integers[i], push.b.scale);
    sums[i] = sum(product(a_integers[i], push.a.scale), product(push.alpha, b_real));
#if ACTIVATES_REALS
    sums[i] = activated(sums[i]);
#endif
  }
#if RELU
  const float low = 0.0;  // to which negative values are clamped
#else
  const float low = float(-128 - push.y_zero_point);
#endif
  const float high = float(127 - push.y_zero_point);
  return quantized_word(sums, push.y_inverse_scale, push.y_zero_point, low, high);
}

VECTOR sums_of(VECTOR a_words, VECTOR b_words) {
#if WHOLE_QUADS
  uvec4 words;
  for (uint i = 0u; i < 4u; ++i) words[i] = sum_of_words(a_words[i], b_words[i]);
  return words;
#else
  return sum_of_words(a_words, b_words);
#endif
}

void main() {
  VECTOR a_words[MOST_VECTORS], b_words[MOST_VECTORS];
  uint count = 0u;
  for (; count < vectors_per_invocation; ++count) {
    if (vector_at(count) >= push.count) break;
    const Steps word = words_of(vector_at(count));
    a_words[count] = load_a(word.a);
    b_words[count] = load_b(word.b);
  }
  for (uint k = 0u; k < vectors_per_invocation; ++k) {
    if (k >= count) return;
    y[guard_words / WORDS_OF_VECTOR + vector_at(k)] = sums_of(a_words[k], b_words[k]);
  }
}
