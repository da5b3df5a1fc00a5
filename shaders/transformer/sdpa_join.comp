#version 450
#extension GL_GOOGLE_include_directive : require

// Joins what the workgroups of sdpa.comp that share a query's keys have stored: for each of them the sums of its values
// quad by quad, its largest score and the total of its weights. A workgroup joins one query; COLUMNS neighbouring
// invocations take its quads, and groups of them take different parts.
//
// F16: see transformer/sdpa.glslh; SUBGROUPS: see common/lanes.glslh

#define MASKED 0
#define Q8 0
#define MORE_NUMBERS \
  uint splits;       \
  uint workgroups;
#include "transformer/lane_reduction.glslh"
#include "transformer/sdpa.glslh"

layout(set = 0, binding = 0) restrict readonly buffer Partial { vec4 partial[]; };
layout(set = 0, binding = 1) restrict writeonly buffer Y { REAL_WORDS y[]; };

shared vec4 shared_quads[gl_WorkGroupSize.x];

vec2 part_at(uint first, uint split) { return partial[first + split * (push.quads + 1u) + push.quads].xy; }

// What the sums of a part, whose largest score this is, count among those of a larger one.
float factor_of(float score, float larger) { return score == MINUS_INFINITY ? 0.0 : exp2(score - larger); }

// The largest scores of two parts, and the totals of their weights, together.
vec2 joined(vec2 a, vec2 b) {
  const float larger = max(a.x, b.x);
  return vec2(larger, a.y * factor_of(a.x, larger) + b.y * factor_of(b.x, larger));
}

// Those of all parts. Each subgroup finds them for itself.
vec2 joined_parts(uint first) {
#if SUBGROUPS
  // A workgroup may be smaller than a subgroup; both are powers of two.
  const uint begin = gl_SubgroupInvocationID, step_of_lanes = min(gl_SubgroupSize, gl_WorkGroupSize.x);
#else
  const uint begin = 0u, step_of_lanes = 1u;
#endif
  vec2 part = vec2(MINUS_INFINITY, 0.0);
  for (uint i = begin; i < push.splits; i += step_of_lanes) part = joined(part, part_at(first, i));
#if SUBGROUPS
  for (uint mask = 1u; mask < step_of_lanes; mask <<= 1) part = joined(part, subgroupShuffleXor(part, mask));
#endif
  return part;
}

void main() {
  const uint number = flat_workgroup();
  if (number >= push.workgroups) return;
  const uint lane = flat_lane();
  const uint quad = lane & (COLUMNS - 1u), group = lane >> column_bits, groups = gl_WorkGroupSize.x >> column_bits;
  const uint first = guard_words / 4u + number * push.splits * (push.quads + 1u);
  const vec2 all = joined_parts(first);

  vec4 values = vec4(0.0);
  if (quad < push.quads) {
    for (uint i = group; i < push.splits; i += groups) {
      values += partial[first + i * (push.quads + 1u) + quad] * factor_of(part_at(first, i).x, all.x);
    }
  }
  shared_quads[lane] = values;
  barrier();
  if (group > 0u || quad >= push.quads) return;
  for (uint i = 1u; i < groups; ++i) values += shared_quads[i * COLUMNS + quad];
  if (is_nan(all.y)) values = vec4(NOT_A_NUMBER);
  const Query query = query_of(number / push.queries, number % push.queries);
  y[GUARD_QUADS + query.row * push.quads + quad] = words_of(all.y == 0.0 ? vec4(0.0) : values / all.y);
}
