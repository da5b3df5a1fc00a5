#version 450
#extension GL_GOOGLE_include_directive : require

// Copies rows of x into a cache. x has rows [batch, tokens, heads], the cache has rows [batch, heads, capacity], and
// the row of token s becomes the one at start + s. Rows that lie next to each other in the cache, those of a batch and
// a head, are a run. Nothing of the cache is read, and what is not of these rows keeps its bits.
//
// WHOLE_QUADS  1: an invocation copies four words, of which rows have a whole number; 0: it copies one
// HALVES       1: rows are of f16 and end in the middle of words: an invocation writes what is the run's of a word

#include "common/guards.glslh"
#include "common/indexing.glslh"

#if WHOLE_QUADS
#define VECTOR uvec4
#define WORDS_OF_VECTOR 4u
#else
#define VECTOR uint
#define WORDS_OF_VECTOR 1u
#endif

layout(push_constant) uniform Push {
  uint count;  // of invocations
  uint run;    // invocations per run
  uint row;    // vectors of a row; HALVES: values
  uint heads, tokens, capacity;
  uint start;  // position of the first token
  Divider by_run, by_row, by_heads;
} push;

layout(set = 0, binding = 0) restrict readonly buffer X { VECTOR x[]; };
#if HALVES
layout(set = 0, binding = 1) restrict buffer Cache { uint cache[]; };
#else
layout(set = 0, binding = 1) restrict writeonly buffer Cache { VECTOR cache[]; };
#endif

// The place in x of what is at `place` of a run.
uint source_of(uint run, uint place) {
  const uint batch = divide(run, push.by_heads);
  const uint token = divide(place, push.by_row);
  const uint row = (batch * push.tokens + token) * push.heads + run - batch * push.heads;
  return row * push.row + place - token * push.row;
}

#if HALVES
uint half_of(uint run, uint place) {
  const uint value = source_of(run, place);
  return (x[guard_words + value / 2u] >> (16u * (value & 1u))) & 0xffffu;
}

// The other half of a word may be another run's, which is written at the same time, or a value that stays.
void write_half(uint word, uint half_word, uint bits) {
  const uint shift = 16u * half_word;
  atomicAnd(cache[guard_words + word], ~(0xffffu << shift));
  atomicOr(cache[guard_words + word], bits << shift);
}

void write_part(uint run, uint number) {
  const uint first = (run * push.capacity + push.start) * push.row, end = first + push.tokens * push.row;
  const uint word = first / 2u + number, low = 2u * word, high = low + 1u;
  const bool has_low = low >= first && low < end, has_high = high < end;
  if (has_low && has_high) {
    cache[guard_words + word] = half_of(run, low - first) | (half_of(run, high - first) << 16);
  } else if (has_low) {
    write_half(word, 0u, half_of(run, low - first));
  } else if (has_high) {
    write_half(word, 1u, half_of(run, high - first));
  }
}
#else
void write_part(uint run, uint number) {
  const uint first = (run * push.capacity + push.start) * push.row;
  cache[guard_words / WORDS_OF_VECTOR + first + number] = x[guard_words / WORDS_OF_VECTOR + source_of(run, number)];
}
#endif

void main() {
  const uint number = flat_invocation();
  if (number >= push.count) return;
  const uint run = divide(number, push.by_run);
  write_part(run, number - run * push.run);
}
