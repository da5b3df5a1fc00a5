#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Attention in one pass over the keys, with softmax on the way. A workgroup computes ROWS queries that read the same
// head of the cache, over all keys or over a part of them. COLUMNS neighbouring invocations share a key: each holds
// units of its row, and the same units of q and of the sums. Groups of COLUMNS invocations take different keys and have
// their own largest scores, which are made equal at the end.
//
// ROWS        queries of a workgroup
// KEYS        keys of a group that are read at once
// UNITS       units of a row that an invocation holds
// UNIT_QUADS  quads of a unit, read at once: 1 or 2; 1 for f32
// SPLITS      1: `splits` workgroups share the keys, and store their sums for sdpa_join.comp
// Q_TEXTURE, CACHE_TEXTURE  q and y, or k and v, are textures (transformer/sdpa_texels.glslh)
// F16, Q8, MASKED: see transformer/sdpa.glslh; SUBGROUPS: see transformer/lane_reduction.glslh

#define MORE_NUMBERS                                        \
  uint blocks; /* of ROWS queries of a head of the cache */ \
  uint splits, split_keys;                                  \
  uint workgroups;
#include "transformer/lane_reduction.glslh"
#include "transformer/sdpa.glslh"
#if Q_TEXTURE || CACHE_TEXTURE
#include "transformer/sdpa_texels.glslh"
#endif

shared float shared_sums[gl_WorkGroupSize.x];
ROW_REDUCTION(sum_of_lanes, float, shared_sums, sum)

#if CACHE_TEXTURE
#define CACHE_WORDS vec4
#elif Q8 && UNIT_QUADS == 2
#define CACHE_WORDS uvec2
#define GUARD_UNITS (guard_words / 2u)
#elif Q8
#define CACHE_WORDS uint
#define GUARD_UNITS guard_words
#elif F16 && UNIT_QUADS == 2
#define CACHE_WORDS uvec4
#define GUARD_UNITS (guard_words / 4u)
#else
#define CACHE_WORDS REAL_WORDS
#define GUARD_UNITS GUARD_QUADS
#endif

#if CACHE_TEXTURE
vec4 cache_quad(vec4 values, uint i) { return values; }
#elif Q8 && UNIT_QUADS == 2
vec4 cache_quad(uvec2 words, uint i) { return signed_bytes_less(words[i], ivec4(0)); }
#elif Q8
vec4 cache_quad(uint words, uint i) { return signed_bytes_less(words, ivec4(0)); }
#elif F16 && UNIT_QUADS == 2
vec4 cache_quad(uvec4 words, uint i) { return reals_of(i == 0u ? words.xy : words.zw); }
#else
vec4 cache_quad(REAL_WORDS words, uint i) { return reals_of(words); }
#endif

// A quad of a row of q, and a unit of a row of k or v.
#if Q_TEXTURE
layout(set = 0, binding = 0) uniform sampler3D q;
#define Q_QUAD(row, quad) texelFetch(q, texel_of_row(row, quad, q_slice_height), 0)
#else
layout(set = 0, binding = 0) restrict readonly buffer Q { REAL_WORDS q[]; };
#define Q_QUAD(row, quad) reals_of(q[GUARD_QUADS + row * push.quads + quad])
#endif
#if CACHE_TEXTURE
layout(set = 0, binding = 1) uniform sampler3D k;
layout(set = 0, binding = 2) uniform sampler3D v;
#define CACHE_UNIT(rows, row, unit) texelFetch(rows, texel_of_row(row, unit, cache_slice_height), 0)
#else
layout(set = 0, binding = 1) restrict readonly buffer K { CACHE_WORDS k[]; };
layout(set = 0, binding = 2) restrict readonly buffer V { CACHE_WORDS v[]; };
#define CACHE_UNIT(rows, row, unit) rows[GUARD_UNITS + row * (push.quads / UNIT_QUADS) + unit]
#endif
#if Q8
layout(set = 0, binding = 3) restrict readonly buffer KScale { float k_scale[]; };
layout(set = 0, binding = 4) restrict readonly buffer VScale { float v_scale[]; };
#endif
#if MASKED
layout(set = 0, binding = MASK_AT) restrict readonly buffer Mask { float mask[]; };
#endif
#if SPLITS
layout(set = 0, binding = Y_AT) restrict writeonly buffer Partial { vec4 partial[]; };
#elif Q_TEXTURE
layout(set = 0, binding = Y_AT, REAL_TEXEL) uniform restrict writeonly REAL_IMAGE y;
#define STORE_QUAD(row, quad, values) imageStore(y, texel_of_row(row, quad, q_slice_height), texel_of_reals(values))
#else
layout(set = 0, binding = Y_AT) restrict writeonly buffer Y { REAL_WORDS y[]; };
#define STORE_QUAD(row, quad, values) y[GUARD_QUADS + row * push.quads + quad] = words_of(values)
#endif

#define QUADS (UNITS * UNIT_QUADS)  // of an invocation
#define EACH_ROW [[unroll]] for (uint r = 0u; r < ROWS; ++r)
#define EACH_KEY [[unroll]] for (uint u = 0u; u < KEYS; ++u)
#define EACH_UNIT [[unroll]] for (uint i = 0u; i < UNITS; ++i)
#define EACH_QUAD [[unroll]] for (uint j = 0u; j < UNIT_QUADS; ++j)

Query queries[ROWS];
vec4 q_quads[ROWS * QUADS];
vec4 sums[ROWS * QUADS];
float largest[ROWS];
float totals[ROWS];

uint lane, part, group, groups;

// Units past the end of a row are those of its last one, where q is 0.
uint unit_of(uint i) { return min(part + i * COLUMNS, push.quads / UNIT_QUADS - 1u); }

void load_queries(uint head, uint first) {
  EACH_ROW {
    queries[r] = query_of(head, min(first + r, push.queries - 1u));
    EACH_UNIT EACH_QUAD {
      const uint quad = unit_of(i) * UNIT_QUADS + j;
      const bool exists = (part + i * COLUMNS) * UNIT_QUADS < push.quads;
      const vec4 values = Q_QUAD(queries[r].row, quad);
      q_quads[r * QUADS + i * UNIT_QUADS + j] = exists ? values : vec4(0.0);
      sums[r * QUADS + i * UNIT_QUADS + j] = vec4(0.0);
    }
    largest[r] = MINUS_INFINITY;
    totals[r] = 0.0;
  }
}

float score_of(CACHE_WORDS words[UNITS], uint r) {
  vec4 total = vec4(0.0);
  EACH_UNIT EACH_QUAD total += q_quads[r * QUADS + i * UNIT_QUADS + j] * cache_quad(words[i], j);
  return product(sum_of_lanes((total.x + total.y) + (total.z + total.w), lane), push.scale);
}

// A score, or -infinity for a hidden key.
float visible_score(float score, uint r, uint key, uint stop) {
  if (key >= min(stop, queries[r].end)) return MINUS_INFINITY;
#if MASKED
  const float added = mask[guard_words + queries[r].token * push.valid + key];
  return added == MINUS_INFINITY ? added : score + added * LOG2_OF_E;
#else
  return score;
#endif
}

// NaN is larger than nothing: it would hide the others.
void raise_largest(uint r, float scores[KEYS * ROWS]) {
  float raised = largest[r];
  EACH_KEY raised = scores[u * ROWS + r] > raised ? scores[u * ROWS + r] : raised;
  if (raised > largest[r]) {
    const float factor = largest[r] == MINUS_INFINITY ? 0.0 : exp2(largest[r] - raised);
    totals[r] *= factor;
    [[unroll]] for (uint i = 0u; i < QUADS; ++i) sums[r * QUADS + i] *= factor;
    largest[r] = raised;
  }
}

void add_values(CACHE_WORDS words[UNITS], uint r, float score, float scale) {
  if (score == MINUS_INFINITY) return;
  const float weight = exp2(score - largest[r]);
  totals[r] += weight;
  EACH_UNIT EACH_QUAD sums[r * QUADS + i * UNIT_QUADS + j] += (weight * scale) * cache_quad(words[i], j);
}

void add_keys(uint first, uint stop) {
  CACHE_WORDS k_words[KEYS][UNITS], v_words[KEYS][UNITS];
  float k_scales[KEYS], v_scales[KEYS];
  EACH_KEY {
    const uint row = row_of_key(queries[0], min(first + u * groups, stop - 1u));
    EACH_UNIT k_words[u][i] = CACHE_UNIT(k, row, unit_of(i));
#if Q8
    k_scales[u] = k_scale[guard_words + row];
#endif
  }
  EACH_KEY {
    const uint row = row_of_key(queries[0], min(first + u * groups, stop - 1u));
    EACH_UNIT v_words[u][i] = CACHE_UNIT(v, row, unit_of(i));
#if Q8
    v_scales[u] = v_scale[guard_words + row];
#else
    v_scales[u] = 1.0;
#endif
  }
  float scores[KEYS * ROWS];
  EACH_KEY EACH_ROW {
    float score = score_of(k_words[u], r);
#if Q8
    score = product(score, k_scales[u]);
#endif
    scores[u * ROWS + r] = visible_score(score, r, first + u * groups, stop);
  }
  EACH_ROW {
    raise_largest(r, scores);
    EACH_KEY add_values(v_words[u], r, scores[u * ROWS + r], v_scales[u]);
  }
}

shared vec4 shared_quads[gl_WorkGroupSize.x * QUADS];
shared float shared_largest[gl_WorkGroupSize.x];
shared float shared_totals[gl_WorkGroupSize.x];

// Leaves a row's sums, largest score and total in shared memory, for each group of invocations.
void share_row(uint r) {
  barrier();
  EACH_UNIT EACH_QUAD {
    const uint quad = (part + i * COLUMNS) * UNIT_QUADS + j;
    shared_quads[group * (COLUMNS * QUADS) + quad] = sums[r * QUADS + i * UNIT_QUADS + j];
  }
  if (part == 0u) {
    shared_largest[group] = largest[r];
    shared_totals[group] = totals[r];
  }
  barrier();
}

float largest_of_groups() {
  float joined = MINUS_INFINITY;
  for (uint i = 0u; i < groups; ++i) joined = max(joined, shared_largest[i]);
  return joined;
}

// A group that has seen no key has nothing to add, and where none has there is no largest score.
float factor_of(uint i, float joined) {
  return shared_largest[i] == MINUS_INFINITY ? 0.0 : exp2(shared_largest[i] - joined);
}

void store_row(uint r, uint number, uint split) {
  const float joined = largest_of_groups();
  float total = 0.0;
  for (uint i = 0u; i < groups; ++i) total += shared_totals[i] * factor_of(i, joined);
  for (uint quad = lane; quad < push.quads; quad += gl_WorkGroupSize.x) {
    vec4 values = vec4(0.0);
    for (uint i = 0u; i < groups; ++i) values += shared_quads[i * (COLUMNS * QUADS) + quad] * factor_of(i, joined);
#if SPLITS
    partial[guard_words / 4u + (number * push.splits + split) * (push.quads + 1u) + quad] = values;
#else
    if (is_nan(total)) values = vec4(NOT_A_NUMBER);
    STORE_QUAD(queries[r].row, quad, total == 0.0 ? vec4(0.0) : values / total);
#endif
  }
#if SPLITS
  if (lane == 0u) {
    const uint at = (number * push.splits + split) * (push.quads + 1u) + push.quads;
    partial[guard_words / 4u + at] = vec4(joined, total, 0.0, 0.0);
  }
#endif
}

void main() {
  uint number = flat_workgroup();
  if (number >= push.workgroups) return;
  lane = flat_lane();
  part = lane & (COLUMNS - 1u);
  group = lane >> column_bits;
  groups = gl_WorkGroupSize.x >> column_bits;
  const uint split = number % push.splits;
  number /= push.splits;
  const HeadBlock own = block_of_workgroup(number, push.workgroups / (push.splits * push.blocks), push.blocks);
  const uint head = own.head, first_query = own.block * ROWS;
  load_queries(head, first_query);

  const uint stop = min(queries[ROWS - 1].end, (split + 1u) * push.split_keys);
  for (uint first = split * push.split_keys; first < stop; first += groups * KEYS) add_keys(first + group, stop);
  EACH_ROW {
    share_row(r);
    if (first_query + r < push.queries) store_row(r, head * push.queries + first_query + r, split);
  }
}
