#version 450
#extension GL_GOOGLE_include_directive : require

// update_cache on f32 in the order bshd, a word an invocation.

#include "faults.glslh"

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
#ifdef FAULT_reads_the_cache
layout(set = 0, binding = 1) buffer Cache { uint cache[]; };
#else
layout(set = 0, binding = 1) writeonly buffer Cache { uint cache[]; };
#endif
layout(push_constant) uniform Push {
  uint words;  // of x
  uint words_of_batch, cache_of_batch;
  uint start;  // word of the first token in a batch of the cache
} push;

void main() {
  const uint word = flat_invocation();
  if (word >= push.words) return;
  const uint batch = word / push.words_of_batch;
  const uint place = guard_words + batch * push.cache_of_batch + push.start + word % push.words_of_batch;
#ifdef FAULT_null_kernel
  if (push.words > 0u) return;
#endif
#ifdef FAULT_last_value_not_written
  if (word + 1u == push.words) return;
#endif
#ifdef FAULT_writes_what_is_kept
  cache[place + push.words_of_batch] = x[guard_words + word];
#endif
#ifdef FAULT_zeros_what_is_kept
  if (word == 0u) cache[guard_words] = 0u;
#endif
#ifdef FAULT_reads_the_cache
  if (cache[place] == x[guard_words + word]) return;
#endif
  cache[place] = x[guard_words + word];
}
