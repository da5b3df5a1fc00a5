#version 450
#extension GL_GOOGLE_include_directive : require

// Joins what the workgroups of sdpa.comp that share a query's keys have stored: for each of them the sums of its values
// quad by quad, its largest score and the total of its weights. A workgroup joins one query; COLUMNS neighbouring
// invocations take its quads, and groups of them take different parts.
//
// MOST_SPLITS  the most workgroups that share the keys
// F16: see transformer/sdpa.glslh

#define MASKED 0
#define Q8 0
#define SUBGROUPS 0
#define MORE_NUMBERS \
  uint splits;       \
  uint workgroups;
#include "transformer/lane_reduction.glslh"
#include "transformer/sdpa.glslh"

layout(set = 0, binding = 0) restrict readonly buffer Partial { vec4 partial[]; };
layout(set = 0, binding = 1) restrict writeonly buffer Y { REAL_WORDS y[]; };

shared vec4 shared_quads[gl_WorkGroupSize.x];
shared float factors[MOST_SPLITS];
shared float shared_totals[gl_WorkGroupSize.x];
shared float shared_largest[gl_WorkGroupSize.x];

// Joins what all invocations have, in place of the first one's. The workgroup is a power of two.
#define JOIN(array, lane, join)                                          \
  for (uint half_size = gl_WorkGroupSize.x / 2u; half_size > 0u; half_size /= 2u) { \
    barrier();                                                           \
    if (lane < half_size) array[lane] = join(array[lane], array[lane + half_size]); \
  }                                                                      \
  barrier();

// Leaves the factor of each part, and returns the total of all weights.
float weigh_parts(uint first, uint lane) {
  float largest = MINUS_INFINITY;
  for (uint i = lane; i < push.splits; i += gl_WorkGroupSize.x) {
    largest = max(largest, partial[first + i * (push.quads + 1u) + push.quads].x);
  }
  shared_largest[lane] = largest;
  JOIN(shared_largest, lane, max)
  largest = shared_largest[0];
  float total = 0.0;
  for (uint i = lane; i < push.splits; i += gl_WorkGroupSize.x) {
    const vec2 part = partial[first + i * (push.quads + 1u) + push.quads].xy;
    factors[i] = part.x == MINUS_INFINITY ? 0.0 : exp(part.x - largest);
    total += part.y * factors[i];
  }
  shared_totals[lane] = total;
  JOIN(shared_totals, lane, sum)
  return shared_totals[0];
}

void main() {
  const uint number = flat_workgroup();
  if (number >= push.workgroups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint quad = lane & (COLUMNS - 1u), group = lane >> column_bits, groups = gl_WorkGroupSize.x >> column_bits;
  const uint first = guard_words / 4u + number * push.splits * (push.quads + 1u);
  const float total = weigh_parts(first, lane);

  vec4 values = vec4(0.0);
  if (quad < push.quads) {
    for (uint i = group; i < push.splits; i += groups) {
      values += partial[first + i * (push.quads + 1u) + quad] * factors[i];
    }
  }
  shared_quads[lane] = values;
  barrier();
  if (group > 0u || quad >= push.quads) return;
  for (uint i = 1u; i < groups; ++i) values += shared_quads[i * COLUMNS + quad];
  if (is_nan(total)) values = vec4(NOT_A_NUMBER);
  const Query query = query_of(number / push.queries, number % push.queries);
  y[GUARD_QUADS + query.row * push.quads + quad] = words_of(total == 0.0 ? vec4(0.0) : values / total);
}
