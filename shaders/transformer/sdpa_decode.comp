#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require

// Attention of few queries by cooperative matrices of half floats whose elements' places are known
// (common/placed_matrices.glslh), in one pass over the keys. Eight queries that read the same head of the cache are the
// columns of products whose rows are keys: 16 keys of k times the queries, then v, transposed, times the weights. All
// goes from memory to registers, where elements of matrices are made; subgroups wait for each other at the end alone.
// The subgroups of a workgroup, and `splits` workgroups, share the keys.
//
// SPLITS       `splits` workgroups share the keys, and store their sums: 1: for sdpa_join.comp, 2: for the last of
// them,
//              which joins them; 0: a workgroup sees all keys
// SUBGROUPS    of a workgroup
// UNITS_OF_ROW  units of 16 bytes of a row of q, k and v, a multiple of 4
// K_UNITS, V_UNITS  units of a row that an invocation holds: UNITS_OF_ROW / 4, and / 8 rounded up
// MASKED: see transformer/sdpa.glslh; MATRICES, FRAGMENT_M, ...: see common/placed_matrices.glslh; FRAGMENT_N is 8
//
// Invocation l of a subgroup, with g = l / 4 and t = l % 4, holds of a tile of keys
//   of k: units t, t + 4, ... of keys g and g + 8. The order of the values of a head in a product is free, so that a
//         step multiplies four neighbours of each t.
//   of v: units g and g + 8 of keys 2 t, 2 t + 8, 2 t + 1 and 2 t + 9, which is the order of the keys in a product
//   of scores: keys g and g + 8 for queries 2 t and 2 t + 1

#define F16 1
#define Q8 0
#define MORE_NUMBERS                                         \
  uint blocks; /* tiles of queries of a head of the cache */ \
  uint splits, split_keys;                                   \
  uint workgroups;
#include "common/indexing.glslh"
#include "common/unroll.glslh"
#include "transformer/sdpa.glslh"

layout(constant_id = 6) const uint pool_units = 1u;  // units of 16 bytes of shared memory

shared uvec4 pool[pool_units];
#include "common/placed_matrices.glslh"
#include "transformer/nan_of_values.glslh"

layout(set = 0, binding = 0) restrict readonly buffer Q { uvec4 q[]; };
layout(set = 0, binding = 1) restrict readonly buffer K { uvec4 k[]; };
layout(set = 0, binding = 2) restrict readonly buffer V { uvec4 v[]; };
#if MASKED
layout(set = 0, binding = MASK_AT) restrict readonly buffer Mask { float mask[]; };
#endif
#if SPLITS == 1
layout(set = 0, binding = Y_AT) restrict writeonly buffer Parts { vec4 parts[]; };
#else
layout(set = 0, binding = Y_AT) restrict writeonly buffer Y { uvec2 y[]; };
#endif
#if SPLITS == 2
layout(set = 0, binding = PARTS_AT) restrict coherent buffer Parts { vec4 parts[]; };
layout(set = 0, binding = ARRIVED_AT) restrict coherent buffer Arrived { uint arrived[]; };  // workgroups of each block
#endif

#define QUERIES 8u
// Whether to do what is needed only where a condition holds for an invocation of the subgroup. Plain code always does
// it: its shuffles are barriers of the workgroup, which all its invocations must reach, whatever they find.
#if MATRICES == MATRICES_PLAIN
#define IF_ANY(condition) true
#else
#define IF_ANY(condition) any_of_subgroup(condition)
#endif
#define KEYS 16u
// The largest score that weights are relative to is raised where one exceeds it by more: weights stay below 2^8.
#define SLACK 8.0

uint stop;         // keys from here on are for other workgroups, or for none
uint seen_by_all;  // keys before are seen by all queries of the workgroup
Query query;       // of any column
// Of the two queries of which this invocation holds scores.
uint ends[2];
uint tokens[2];
float largest[2];
float totals[2];  // of the weights that this invocation holds

// Indexed by constants only, but for plain code: see linear/linear_coopmat.comp.
uvec4 k_rows[2 * K_UNITS], v_rows[4 * V_UNITS];
B_MATRIX q_columns[2 * K_UNITS];
SUM_MATRIX scores;
SUM_MATRIX sums[4 * V_UNITS];

// --- loads -----------------------------------------------------------------------------------------------------------
// Rows past the last key that is seen are those of that key; units past the row's end are its last one.
uint first_unit(uint key) { return guard_words / 4u + row_of_key(query, min(key, stop - 1u)) * UNITS_OF_ROW; }

void load_k(uint first) {
  [[unroll]] for (uint high = 0u; high < 2u; ++high) {
    const uint at = first_unit(first + of_group() + 8u * high) + of_four();
    [[unroll]] for (uint u = 0u; u < K_UNITS; ++u) k_rows[high * K_UNITS + u] = k[at + 4u * u];
  }
}

uint key_of_v(uint i) { return 2u * of_four() + 8u * (i % 2u) + i / 2u; }

void load_v(uint first) {
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    const uint at = first_unit(first + key_of_v(i));
    [[unroll]] for (uint u = 0u; u < V_UNITS; ++u) {
      v_rows[i * V_UNITS + u] = v[at + min(of_group() + 8u * u, UNITS_OF_ROW - 1u)];
    }
  }
}

#define SET_QUERY_STEP(half, u)                                    \
  SET_WORD(q_columns[2 * (u) + (half)], 0, q_units[u][2 * (half)]) \
  SET_WORD(q_columns[2 * (u) + (half)], 1, q_units[u][2 * (half) + 1])
#define SET_QUERY_UNIT(u) EACH_INNER(2, SET_QUERY_STEP, u)

void load_queries(uint row) {
  const uint at = guard_words / 4u + row * UNITS_OF_ROW + of_four();
  uvec4 q_units[K_UNITS];
  [[unroll]] for (uint u = 0u; u < K_UNITS; ++u) q_units[u] = q[at + 4u * u];
  EACH(K_UNITS, SET_QUERY_UNIT)
}

// --- scores and weights ----------------------------------------------------------------------------------------------
#define SCORE_STEP(half, u)                                  \
  {                                                          \
    A_MATRIX keys;                                           \
    SET_WORD(keys, 0, k_rows[u][2 * (half)])                 \
    SET_WORD(keys, 1, k_rows[u][2 * (half) + 1])             \
    SET_WORD(keys, 2, k_rows[K_UNITS + (u)][2 * (half)])     \
    SET_WORD(keys, 3, k_rows[K_UNITS + (u)][2 * (half) + 1]) \
    MULTIPLY_ADD(keys, q_columns[2 * (u) + (half)], scores); \
  }
#define SCORE_UNIT(u) EACH_INNER_PRODUCT(2, SCORE_STEP, u)

bool is_hidden(uint of_pair, uint key) {
#if MASKED
  const uint at = guard_words + tokens[of_pair] * push.valid + key;
  if (key < ends[of_pair] && mask[at] == MINUS_INFINITY) return true;
#endif
  return key >= min(ends[of_pair], stop);
}

// Of a hidden key minus infinity, even if the product is NaN.
float visible_score(float product_of_row, uint of_pair, uint key) {
  if (is_hidden(of_pair, key)) return MINUS_INFINITY;
#if MASKED
  return product(product_of_row, push.scale) + mask[guard_words + tokens[of_pair] * push.valid + key] * LOG2_OF_E;
#else
  return product(product_of_row, push.scale);
#endif
}

#define SCALE_SUM(e, f) ELEMENT(sums[f], e) *= factors[(e)&1];
#define SCALE_SUMS(f) EACH_INNER(4, SCALE_SUM, f)

// Whatever max() makes of a NaN, the query becomes NaN.
void raise(float raised[2]) {
  float factors[2];
  [[unroll]] for (uint i = 0u; i < 2u; ++i) {
    raised[i] = max(raised[i], shuffled_xor(raised[i], 4u));
    raised[i] = max(raised[i], shuffled_xor(raised[i], 8u));
    raised[i] = max(raised[i], shuffled_xor(raised[i], 16u));
    raised[i] = max(raised[i], largest[i]);
    factors[i] = largest[i] == MINUS_INFINITY ? 0.0 : exp2(largest[i] - raised[i]);
    largest[i] = raised[i];
    totals[i] *= factors[i];
  }
  EACH(SUMS_OF_LANE, SCALE_SUMS)
}

#define SEE_ELEMENT(e) \
  ELEMENT(scores, e) = visible_score(ELEMENT(scores, e), (e)&1, first + row_of_lane() + 8u * HIGH_ROW(e));
#define SCALE_ELEMENT(e) ELEMENT(scores, e) = product(ELEMENT(scores, e), push.scale);
#define RAISE_ELEMENT(e) raised[(e)&1] = max(raised[(e)&1], ELEMENT(scores, e));
#define WEIGH_ELEMENT(e)                                                                                       \
  ELEMENT(scores, e) = ELEMENT(scores, e) == MINUS_INFINITY ? 0.0 : exp2(ELEMENT(scores, e) - largest[(e)&1]); \
  totals[(e)&1] += ELEMENT(scores, e);

// `hides`: whether a query may not see a key.
void weigh(uint first, const bool hides) {
  if (hides) {
    EACH(4, SEE_ELEMENT)
  } else {
    EACH(4, SCALE_ELEMENT)
  }
  float raised[2] = {MINUS_INFINITY, MINUS_INFINITY};
  EACH(4, RAISE_ELEMENT)
  if (IF_ANY(raised[0] > largest[0] + SLACK || raised[1] > largest[1] + SLACK)) raise(raised);
  EACH(4, WEIGH_ELEMENT)
}

// --- sums of values --------------------------------------------------------------------------------------------------
// Query g's weights of keys 2 t and 2 t + 8, or of the keys after them, come from the invocations of key g's row that
// hold queries g and its neighbour.
uint weights_of(uint next, uint words[2]) {
  const uint holder = (2u * of_four() + next) * 4u + of_group() / 2u;
  const uint even = shuffled(words[0], holder), odd = shuffled(words[1], holder);
  return of_group() % 2u == 0u ? even : odd;
}

#define VALUE_WORD(i, u)                                \
  {                                                     \
    A_MATRIX values;                                    \
    SET_WORD(values, 0, low_first[i])                   \
    SET_WORD(values, 1, low_next[i])                    \
    SET_WORD(values, 2, high_first[i])                  \
    SET_WORD(values, 3, high_next[i])                   \
    MULTIPLY_ADD(values, weights, sums[4 * (u) + (i)]); \
  }
#define VALUE_UNIT(u)                                                                          \
  {                                                                                            \
    const uvec4 low_first = low_halves(v_rows[u], v_rows[V_UNITS + (u)]);                      \
    const uvec4 high_first = high_halves(v_rows[u], v_rows[V_UNITS + (u)]);                    \
    const uvec4 low_next = low_halves(v_rows[2 * V_UNITS + (u)], v_rows[3 * V_UNITS + (u)]);   \
    const uvec4 high_next = high_halves(v_rows[2 * V_UNITS + (u)], v_rows[3 * V_UNITS + (u)]); \
    EACH_INNER_PRODUCT(4, VALUE_WORD, u)                                                       \
  }

void add_products() {
  uint words[2];
  words[0] = packHalf2x16(vec2(ELEMENT(scores, 0), ELEMENT(scores, 2)));
  words[1] = packHalf2x16(vec2(ELEMENT(scores, 1), ELEMENT(scores, 3)));
  B_MATRIX weights;
  SET_WORD(weights, 0, weights_of(0u, words))
  SET_WORD(weights, 1, weights_of(1u, words))
  EACH_PRODUCT(V_UNITS, VALUE_UNIT)
}

// Values with a NaN: products by a weight of 0 would spread it to queries that do not see it. They are added key by
// key, which the invocations that hold its values and its weights pass on.
#define ADD_WORD(i, u)                                                                           \
  {                                                                                              \
    const vec2 values = unpackHalf2x16(shuffled(values_of_key[u][i], of_group() * 4u + holder)); \
    if (sees[0]) ELEMENT(sums[4 * (u) + (i)], 0) += weights[0] * values.x;                       \
    if (sees[1]) ELEMENT(sums[4 * (u) + (i)], 1) += weights[1] * values.x;                       \
    if (sees[0]) ELEMENT(sums[4 * (u) + (i)], 2) += weights[0] * values.y;                       \
    if (sees[1]) ELEMENT(sums[4 * (u) + (i)], 3) += weights[1] * values.y;                       \
  }
#define ADD_UNIT(u) EACH_INNER(4, ADD_WORD, u)

void add_visible_values(uint first) {
  [[dont_unroll]] for (uint n = 0u; n < KEYS; ++n) {
    const uint holder = n / 4u, number = n % 4u;  // t of those that hold the values, and which of their keys it is
    const uint key = 2u * holder + 8u * (number % 2u) + number / 2u;
    uvec4 values_of_key[V_UNITS];
    [[unroll]] for (uint u = 0u; u < V_UNITS; ++u) {
      const uvec4 low = number % 2u == 0u ? v_rows[u] : v_rows[V_UNITS + u];
      const uvec4 next = number % 2u == 0u ? v_rows[2u * V_UNITS + u] : v_rows[3u * V_UNITS + u];
      values_of_key[u] = number < 2u ? low : next;
    }
    const uint of_weights = key % 8u * 4u + of_four();
    bool sees[2];
    float weights[2];
    weights[0] = shuffled(key < 8u ? ELEMENT(scores, 0) : ELEMENT(scores, 2), of_weights);
    weights[1] = shuffled(key < 8u ? ELEMENT(scores, 1) : ELEMENT(scores, 3), of_weights);
    [[unroll]] for (uint i = 0u; i < 2u; ++i) sees[i] = !is_hidden(i, first + key);
    EACH(V_UNITS, ADD_UNIT)
  }
}

// Among the values of this invocation.
bool has_nan() {
  uint exponents = 0u;
  [[unroll]] for (uint i = 0u; i < 4u * V_UNITS; ++i) exponents |= full_exponents(v_rows[i]);
  return has_full_exponent(exponents);
}

// --- y ---------------------------------------------------------------------------------------------------------------
// The sums of all subgroups, and behind them the largest scores and the totals.
#define QUADS_OF_ROW (UNITS_OF_ROW * 2u)
#define SUMS_PITCH (QUADS_OF_ROW + 2u)
#define SUMS_OF_SUBGROUP (QUERIES * SUMS_PITCH)

uint place_of(uint subgroup, uint number) { return subgroup * SUMS_OF_SUBGROUP + number * SUMS_PITCH; }

#define QUAD_OF(u, i, of_pair)                                                                             \
  floatBitsToUint(vec4(ELEMENT(sums[4 * (u) + (i)], of_pair), ELEMENT(sums[4 * (u) + (i)], (of_pair) + 2), \
                       ELEMENT(sums[4 * (u) + (i) + 1], of_pair), ELEMENT(sums[4 * (u) + (i) + 1], (of_pair) + 2)))
#define KEEP_QUERY(of_pair, u)                                                             \
  {                                                                                        \
    const uint unit = of_group() + 8u * (u);                                               \
    if (unit < UNITS_OF_ROW) {                                                             \
      const uint at = place_of(subgroup_number(), 2u * of_four() + (of_pair)) + 2u * unit; \
      pool[at] = QUAD_OF(u, 0, of_pair);                                                   \
      pool[at + 1u] = QUAD_OF(u, 2, of_pair);                                              \
    }                                                                                      \
  }
#define KEEP_UNIT(u) EACH_INNER(2, KEEP_QUERY, u)

vec2 share_of(uint subgroup, uint number) {
  return uintBitsToFloat(pool[place_of(subgroup, number) + QUADS_OF_ROW].xy);
}

void keep_sums() {
  EACH(V_UNITS, KEEP_UNIT)
  [[unroll]] for (uint i = 0u; i < 2u; ++i) {
    totals[i] += shuffled_xor(totals[i], 4u);
    totals[i] += shuffled_xor(totals[i], 8u);
    totals[i] += shuffled_xor(totals[i], 16u);
    if (of_group() == 0u) {
      pool[place_of(subgroup_number(), 2u * of_four() + i) + QUADS_OF_ROW].xy =
          floatBitsToUint(vec2(largest[i], totals[i]));
    }
  }
}

#if SPLITS != 1
void store_quad(uint row, uint quad, vec4 values, float total) {
  if (total == 0.0) values = vec4(0.0);
  values = is_nan(total) ? vec4(NOT_A_NUMBER) : values / (total == 0.0 ? 1.0 : total);
  y[GUARD_QUADS + row * QUADS_OF_ROW + quad] = pack_halves(values);
}
#endif

// Of some of the keys: the sums of a quad of a query's values, its largest score, and the total of its weights.
struct Part {
  vec4 values;
  float largest, total;
};

float factor_of(float largest, float larger) { return largest == MINUS_INFINITY ? 0.0 : exp2(largest - larger); }

// What the subgroups have of a quad of a query.
Part part_of_subgroups(uint number, uint quad) {
  Part part = Part(vec4(0.0), MINUS_INFINITY, 0.0);
  [[unroll]] for (uint i = 0u; i < SUBGROUPS; ++i) part.largest = max(part.largest, share_of(i, number).x);
  [[unroll]] for (uint i = 0u; i < SUBGROUPS; ++i) {
    const vec2 share = share_of(i, number);
    const float factor = factor_of(share.x, part.largest);
    part.total += share.y * factor;
    part.values += factor * uintBitsToFloat(pool[place_of(i, number) + quad]);
  }
  return part;
}

#if SPLITS
// Where the part of a split of a query lies.
uint place_of_part(uint query_number, uint split) {
  return guard_words / 4u + (query_number * push.splits + split) * (QUADS_OF_ROW + 1u);
}

void store_part(uint at, uint quad, Part part) {
  parts[at + quad] = part.values;
  if (quad == 0u) parts[at + QUADS_OF_ROW] = vec4(part.largest, part.total, 0.0, 0.0);
}
#endif

#if SPLITS == 2
#define PARTS_AT_ONCE 16u

shared bool is_last;

// Adds parts from `first` on, all of which are loaded before the first is added.
void add_parts(inout Part sum, uint query_number, uint quad, uint first) {
  Part next[PARTS_AT_ONCE];
  [[unroll]] for (uint i = 0u; i < PARTS_AT_ONCE; ++i) {
    const uint at = place_of_part(query_number, min(first + i, push.splits - 1u));
    const vec2 share = parts[at + QUADS_OF_ROW].xy;
    next[i] = Part(parts[at + quad], share.x, share.y);
    if (first + i >= push.splits) next[i] = Part(vec4(0.0), MINUS_INFINITY, 0.0);
  }
  float larger = sum.largest;
  [[unroll]] for (uint i = 0u; i < PARTS_AT_ONCE; ++i) larger = max(larger, next[i].largest);
  const float of_sum = factor_of(sum.largest, larger);
  sum = Part(sum.values * of_sum, larger, sum.total * of_sum);
  [[unroll]] for (uint i = 0u; i < PARTS_AT_ONCE; ++i) {
    const float factor = factor_of(next[i].largest, larger);
    sum.values += next[i].values * factor;
    sum.total += next[i].total * factor;
  }
}

// Whether all workgroups that share the keys of these queries have stored their parts. One invocation of each workgroup
// counts it, after all of its invocations have stored, and before any of the last workgroup's loads what others stored.
bool has_all_parts(uint block) {
  const int memory = gl_StorageSemanticsBuffer | gl_StorageSemanticsShared;
  controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, memory, gl_SemanticsAcquireRelease);
  if (gl_LocalInvocationID.x == 0u) {
    is_last = atomicAdd(arrived[guard_words + block], 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                        gl_SemanticsAcquireRelease) == push.splits - 1u;
  }
  controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, memory, gl_SemanticsAcquireRelease);
  return is_last;
}

void join_parts(uint block, uint head, uint first_query, uint queries) {
  if (!has_all_parts(block)) return;
  if (gl_LocalInvocationID.x == 0u) arrived[guard_words + block] = 0u;
  for (uint i = gl_LocalInvocationID.x; i < queries * QUADS_OF_ROW; i += gl_WorkGroupSize.x) {
    const uint number = first_query + i / QUADS_OF_ROW;
    Part sum = Part(vec4(0.0), MINUS_INFINITY, 0.0);
    for (uint first = 0u; first < push.splits; first += PARTS_AT_ONCE) {
      add_parts(sum, head * push.queries + number, i % QUADS_OF_ROW, first);
    }
    store_quad(query_of(head, number).row, i % QUADS_OF_ROW, sum.values, sum.total);
  }
}
#endif

#define CLEAR_COLUMN(f) CLEAR_SUMS(sums[f]);

// The tile that was loaded last, then loads the one `step` keys further. Code for tiles that all queries see whole
// hides nothing, and a NaN among their values is one of each query's sums. `hides` is known when this is compiled.
void add_tile(uint first, uint step, const bool hides) {
  const bool is_last_tile = first + step >= stop;
  CLEAR_SUMS(scores);
  EACH_PRODUCT(K_UNITS, SCORE_UNIT)
  if (!is_last_tile) load_k(first + step);
  weigh(first, hides);
  if (hides && IF_ANY(has_nan())) {
    add_visible_values(first);
  } else {
    add_products();
  }
  if (!is_last_tile) load_v(first + step);
}

void main() {
  uint number = flat_workgroup();
  if (number >= push.workgroups) return;
  const uint split = number % push.splits;
  number /= push.splits;
  const uint head = number / push.blocks;
  const uint first_query = (number - head * push.blocks) * QUERIES;
  const uint last_query = min(first_query + QUERIES, push.queries) - 1u;
  [[unroll]] for (uint i = 0u; i < 2u; ++i) {
    const Query own = query_of(head, min(first_query + 2u * of_four() + i, last_query));
    ends[i] = own.end;
    tokens[i] = own.token;
    largest[i] = MINUS_INFINITY;
    totals[i] = 0.0;
  }
  stop = min(query_of(head, last_query).end, (split + 1u) * push.split_keys);
#if MASKED
  seen_by_all = 0u;
#else
  seen_by_all = min(query_of(head, first_query).end, stop);
#endif
  query = query_of(head, min(first_query + of_group(), last_query));

  // In plain code all subgroups need the same loops: `of_all` is the first key of them all.
  const uint step = SUBGROUPS * KEYS, own = subgroup_number() * KEYS;
  uint of_all = split * push.split_keys;
  load_k(of_all + own);
  load_v(of_all + own);
  load_queries(query.row);
  EACH(SUMS_OF_LANE, CLEAR_COLUMN)
  for (; of_all + step <= seen_by_all; of_all += step) add_tile(of_all + own, step, false);
  for (; of_all < stop; of_all += step) add_tile(of_all + own, step, true);
  keep_sums();
  barrier();
  const uint queries = last_query - first_query + 1u;
  for (uint i = gl_LocalInvocationID.x; i < queries * QUADS_OF_ROW; i += gl_WorkGroupSize.x) {
    const uint of_block = i / QUADS_OF_ROW, quad = i % QUADS_OF_ROW;
    const Part part = part_of_subgroups(of_block, quad);
#if SPLITS
    store_part(place_of_part(head * push.queries + first_query + of_block, split), quad, part);
#else
    store_quad(query_of(head, first_query + of_block).row, quad, part.values, part.total);
#endif
  }
#if SPLITS == 2
  join_parts(number, head, first_query, queries);
#endif
}
