#version 450
#extension GL_GOOGLE_include_directive : require

// The sums of attention: an invocation computes a quad of y, the values of the keys times their weights. Hidden keys
// are passed over, whatever they hold; a visible one counts even where its weight is 0, since it may be NaN.
//
// F16, Q8, MASKED: see transformer/sdpa.glslh

#define MORE_NUMBERS uint count;  // of quads of y
#include "common/indexing.glslh"
#include "transformer/sdpa.glslh"

layout(set = 0, binding = 0) restrict readonly buffer Weights { float weights[]; };
#if Q8
layout(set = 0, binding = 1) restrict readonly buffer V { uint v[]; };
layout(set = 0, binding = 2) restrict readonly buffer VScale { float v_scale[]; };
vec4 v_quad(uint row, uint quad) {
  const vec4 values = signed_bytes_less(v[guard_words + row * push.quads + quad], ivec4(0));
  return values * v_scale[guard_words + row];
}
#else
layout(set = 0, binding = 1) restrict readonly buffer V { REAL_WORDS v[]; };
vec4 v_quad(uint row, uint quad) { return reals_of(v[GUARD_QUADS + row * push.quads + quad]); }
#endif
#if MASKED
layout(set = 0, binding = MASK_AT) restrict readonly buffer Mask { float mask[]; };
#endif
layout(set = 0, binding = Y_AT) restrict writeonly buffer Y { REAL_WORDS y[]; };

void main() {
  const uint number = flat_invocation();
  if (number >= push.count) return;
  const uint row = number / push.quads;
  const uint quad = number - row * push.quads;
  const Query query = query_of(row / push.queries, row % push.queries);
  vec4 total = vec4(0.0);
  for (uint key = 0u; key < query.end; ++key) {
#if MASKED
    if (mask[guard_words + query.token * push.valid + key] == MINUS_INFINITY) continue;
#endif
    total += weights[guard_words + row * push.valid + key] * v_quad(row_of_key(query, key), quad);
  }
  y[GUARD_QUADS + query.row * push.quads + quad] = words_of(total);
}
