#version 450
#extension GL_GOOGLE_include_directive : require

// Joins what the workgroups that share a query's keys have stored: for each of them the sums of its values quad by
// quad, its largest score and the total of its weights. A workgroup joins one query; COLUMNS neighbouring invocations
// take its quads, and groups of them join different parts, before the groups are joined.
//
// Q_TEXTURE  y is a texture (transformer/sdpa_texels.glslh)
// F16: see transformer/sdpa.glslh

#define MASKED 0
#define Q8 0
#define SUBGROUPS 0
#define CACHE_TEXTURE 0
#define MORE_NUMBERS \
  uint splits;       \
  uint workgroups;
#include "transformer/lane_reduction.glslh"
#include "transformer/sdpa.glslh"
#if Q_TEXTURE
#include "transformer/sdpa_texels.glslh"
#endif

layout(set = 0, binding = 0) restrict readonly buffer Partial { vec4 partial[]; };
#if Q_TEXTURE
layout(set = 0, binding = 1, REAL_TEXEL) uniform restrict writeonly REAL_IMAGE y;
#define STORE_QUAD(row, quad, values) imageStore(y, texel_of_row(row, quad, q_slice_height), texel_of_reals(values))
#else
layout(set = 0, binding = 1) restrict writeonly buffer Y { REAL_WORDS y[]; };
#define STORE_QUAD(row, quad, values) y[GUARD_QUADS + row * push.quads + quad] = words_of(values)
#endif

// Of some of the keys: their largest score, the total of their weights, and the sums of a quad of their values.
struct Part {
  float largest, total;
  vec4 values;
};

// What a part counts among others whose largest score is not smaller.
float factor_of(float largest, float larger) { return largest == MINUS_INFINITY ? 0.0 : exp2(largest - larger); }

Part joined(Part a, Part b) {
  const float larger = max(a.largest, b.largest);
  const float of_a = factor_of(a.largest, larger), of_b = factor_of(b.largest, larger);
  return Part(larger, a.total * of_a + b.total * of_b, a.values * of_a + b.values * of_b);
}

Part stored_part(uint number, uint split, uint quad) {
  const uint first = guard_words / 4u + (number * push.splits + split) * (push.quads + 1u);
  const vec2 score = partial[first + push.quads].xy;
  return Part(score.x, score.y, partial[first + min(quad, push.quads - 1u)]);
}

shared vec4 shared_quads[gl_WorkGroupSize.x];
shared vec2 shared_scores[gl_WorkGroupSize.x];

Part joined_groups(uint quad, uint groups) {
  Part all = Part(MINUS_INFINITY, 0.0, vec4(0.0));
  for (uint i = 0u; i < groups; ++i) all.largest = max(all.largest, shared_scores[i].x);
  for (uint i = 0u; i < groups; ++i) {
    const float factor = factor_of(shared_scores[i].x, all.largest);
    all.total += shared_scores[i].y * factor;
    all.values += shared_quads[i * COLUMNS + quad] * factor;
  }
  return all;
}

void main() {
  const uint number = flat_workgroup();
  if (number >= push.workgroups) return;
  const uint lane = flat_lane();
  const uint quad = lane & (COLUMNS - 1u), group = lane >> column_bits, groups = gl_WorkGroupSize.x >> column_bits;
  Part part = Part(MINUS_INFINITY, 0.0, vec4(0.0));
  for (uint i = group; i < push.splits; i += groups) part = joined(part, stored_part(number, i, quad));
  shared_quads[lane] = part.values;
  if (quad == 0u) shared_scores[group] = vec2(part.largest, part.total);
  const Query query = query_of(number / push.queries, number % push.queries);
  barrier();
  if (group > 0u || quad >= push.quads) return;
  part = joined_groups(quad, groups);
  if (is_nan(part.total)) part.values = vec4(NOT_A_NUMBER);
  STORE_QUAD(query.row, quad, part.total == 0.0 ? vec4(0.0) : part.values / part.total);
}
