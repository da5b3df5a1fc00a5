#version 450
#extension GL_GOOGLE_include_directive : require

// y[m] = clamp(roundEven(sum_g s[g] * sum_k x[m, g, k]), -128, 127), i8 to i32, eight k a group, all in WP; one
// invocation a row. The float32 sum over groups goes up, or down with GROUPS_DOWN; with GROUPS_COARSE
// it begins far from 0, which costs twelve bits.

#include "faults.glslh"

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) readonly buffer S { float s[]; };
layout(set = 0, binding = 2) writeonly buffer Y { int y[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint groups;
} push;

const uint group_words = 2u;

int group_sum(uint row, uint group) {
  int sum = 0;
  for (uint i = 0u; i < group_words; ++i) {
    const uint word = x[guard_words + (row * push.groups + group) * group_words + i];
    for (uint lane = 0u; lane < 4u; ++lane) sum += signed_byte(word, lane);
  }
  return sum;
}

float scaled_sum(uint row) {
#ifdef GROUPS_COARSE
  const float begin = 4096.0;
#else
  const float begin = 0.0;
#endif
  precise float sum = begin;
  for (uint i = 0u; i < push.groups; ++i) {
#ifdef GROUPS_DOWN
    const uint group = push.groups - 1u - i;
#else
    const uint group = i;
#endif
    precise float term = float(group_sum(row, group)) * s[guard_words + group];
    sum = sum + term;
  }
  sum = sum - begin;
  return sum;
}

int rounded(float sum) {
#ifdef FAULT_half_away
  return int(sign(sum) * floor(abs(sum) + 0.5));
#else
  return int(roundEven(sum));
#endif
}

void main() {
  const uint row = gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (row >= push.rows) return;
  precise float sum = scaled_sum(row);
#ifdef FAULT_biased
  sum = sum + 0.01;
#endif
  y[guard_words + row] = rounded(clamp(sum, -128.0, 127.0));
}
