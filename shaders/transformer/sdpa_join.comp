#version 450
#extension GL_GOOGLE_include_directive : require

// Joins what the workgroups of sdpa.comp that share a query's keys have stored: for each of them the sums of its values
// quad by quad, its largest score and the total of its weights. A workgroup joins one query; COLUMNS neighbouring
// invocations take its quads, and groups of them take different parts.
//
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

uint place_of(uint number, uint split) { return guard_words / 4u + (number * push.splits + split) * (push.quads + 1u); }

void main() {
  const uint number = flat_workgroup();
  if (number >= push.workgroups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint quad = lane & (COLUMNS - 1u), group = lane >> column_bits, groups = gl_WorkGroupSize.x >> column_bits;

  float largest = MINUS_INFINITY;
  for (uint i = 0u; i < push.splits; ++i) largest = max(largest, partial[place_of(number, i) + push.quads].x);
  vec4 values = vec4(0.0);
  float total = 0.0;
  for (uint i = 0u; i < push.splits; ++i) {
    const vec2 part = partial[place_of(number, i) + push.quads].xy;
    const float factor = part.x == MINUS_INFINITY ? 0.0 : exp(part.x - largest);
    total += part.y * factor;
    if (i % groups == group && quad < push.quads) values += partial[place_of(number, i) + quad] * factor;
  }
  shared_quads[lane] = values;
  barrier();
  if (group > 0u || quad >= push.quads) return;
  for (uint i = 1u; i < groups; ++i) values += shared_quads[i * COLUMNS + quad];
  if (is_nan(total)) values = vec4(NOT_A_NUMBER);
  const Query query = query_of(number / push.queries, number % push.queries);
  y[GUARD_QUADS + query.row * push.quads + quad] = words_of(total == 0.0 ? vec4(0.0) : values / total);
}
