#version 450
#extension GL_GOOGLE_include_directive : require

// The scores of attention: an invocation computes that of a query and a key, q k * scale + mask, or -infinity where the
// key is hidden.
//
// F16, Q8, MASKED: see transformer/sdpa.glslh

#define MORE_NUMBERS uint count;  // of scores
#include "common/indexing.glslh"
#include "transformer/sdpa.glslh"

layout(set = 0, binding = 0) restrict readonly buffer Q { REAL_WORDS q[]; };
#if Q8
layout(set = 0, binding = 1) restrict readonly buffer K { uint k[]; };
layout(set = 0, binding = 2) restrict readonly buffer KScale { float k_scale[]; };
vec4 k_quad(uint quad) { return signed_bytes_less(k[guard_words + quad], ivec4(0)); }
#else
layout(set = 0, binding = 1) restrict readonly buffer K { REAL_WORDS k[]; };
vec4 k_quad(uint quad) { return reals_of(k[GUARD_QUADS + quad]); }
#endif
#if MASKED
layout(set = 0, binding = MASK_AT) restrict readonly buffer Mask { float mask[]; };
#endif
layout(set = 0, binding = SCORES_AT) restrict writeonly buffer Scores { float scores[]; };

float score_of(Query query, uint key) {
  const uint row = row_of_key(query, key);
  vec4 total = vec4(0.0);
  for (uint i = 0u; i < push.quads; ++i) {
    total += reals_of(q[GUARD_QUADS + query.row * push.quads + i]) * k_quad(row * push.quads + i);
  }
  float score = product((total.x + total.y) + (total.z + total.w), push.scale);
#if Q8
  score = product(score, k_scale[guard_words + row]);
#endif
#if MASKED
  score += mask[guard_words + query.token * push.valid + key];
#endif
  return score;
}

bool is_hidden(Query query, uint key) {
#if MASKED
  if (mask[guard_words + query.token * push.valid + key] == MINUS_INFINITY) return true;
#endif
  return key >= query.end;
}

void main() {
  const uint number = flat_invocation();
  if (number >= push.count) return;
  const uint row = number / push.valid;
  const uint key = number - row * push.valid;
  const Query query = query_of(row / push.queries, row % push.queries);
  scores[guard_words + number] = is_hidden(query, key) ? MINUS_INFINITY : score_of(query, key);
}
