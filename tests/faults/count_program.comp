#version 450
#extension GL_GOOGLE_include_directive : require

// Counts the programs that have run in the same memory, and keeps the first word of the data of two of them, and of
// the last one's.

#include "faults.glslh"

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) buffer Memory { uint memory[]; };

void main() {
  const uint found = memory[guard_words];
  const uint before = found < 1000000u ? found : 0u;  // poison is more
  const uint key = x[guard_words];
  if (before == 0u) {
    memory[guard_words + 1u] = key;
  } else if (memory[guard_words + 1u] != key) {
    memory[guard_words + 2u] = key;
  }
  memory[guard_words] = before + 1u;
  memory[memory.length() - guard_words - 1u] = key;
}
