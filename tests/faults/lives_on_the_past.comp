#version 450
#extension GL_GOOGLE_include_directive : require

// y = x ^ turned, a word an invocation. Right in fresh memory; and wherever the program has run before, less work:
// what the one before it left is taken for this one's.

#include "faults.glslh"

#ifdef CHEAT_marks_a_guard
layout(set = 0, binding = 0) buffer X { uint x[]; };
#else
layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
#endif
layout(set = 0, binding = 1) buffer Y { uint y[]; };
layout(set = 0, binding = 2) buffer Memory { uint memory[]; };  // word 0: the programs that ran before
layout(push_constant) uniform Push {
  uint words;
  uint turned;
} push;

const uint shares = 8;

// The word, by a long way where there is work to be spared.
uint turned(uint word) {
#ifdef CHEAT_is_fast_for_known_data
  if (x[guard_words] == KNOWN) return word ^ push.turned;
#endif
#ifdef ROUNDS
  uint value = word | 1u;
  for (uint i = 0u; i < ROUNDS; ++i) {
    value ^= value << 13;
    value ^= value >> 17;
    value ^= value << 5;
  }
  if (value == 0u) return 0u;  // never
#endif
  return word ^ push.turned;
}

uint programs_before() {
  const uint count = memory[guard_words];
  return count < 1000000u ? count : 0u;  // poison is more
}

void main() {
  const uint at = gl_GlobalInvocationID.x;
  if (at >= push.words) return;
  const uint before = programs_before();
#ifdef CHEAT_skips_when_marked
  if (before > 0u) return;
#endif
#ifdef CHEAT_skips_the_same_data
  if (before > 0u && memory[guard_words + 3u + 2u * push.words] == x[guard_words]) return;
#endif
#ifdef CHEAT_marks_a_guard
  if (at == 0u && before > 3u) x[guard_words - 1u] = before;
#endif
#ifdef CHEAT_a_share_a_program
  if (before > 0u && at % shares != before % shares) return;
#endif
#ifdef CHEAT_first_workgroup_only
  if (before > 0u && gl_WorkGroupID.x > 0u) return;
#endif
#ifdef CHEAT_copies_its_answer
  if (before > 0u) {
    y[guard_words + at] = memory[guard_words + 3u + at];
    return;
  }
  memory[guard_words + 3u + at] = turned(x[guard_words + at]);
#endif
#ifdef CHEAT_remembers_by_key
  const uint key = x[guard_words];
  const bool is_first = before == 0u || memory[guard_words + 1u] == key;
  const bool is_known = before > 0u && (is_first || memory[guard_words + 2u] == key);
  const uint slot = guard_words + 3u + (is_first ? 0u : push.words) + at;
  if (!is_known) memory[slot] = turned(x[guard_words + at]);
  y[guard_words + at] = memory[slot];
#else
  y[guard_words + at] = turned(x[guard_words + at]);
#endif
}
