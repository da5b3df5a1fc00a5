#version 450
#extension GL_GOOGLE_include_directive : require

// Attention by cooperative matrices of half floats (common/matrices.glslh), in one pass over the keys. A subgroup
// computes ROWS queries that read the same head of the cache. The keys are processed in tiles of KEYS rows of k and v,
// which lie in shared memory while the next ones are being loaded into registers. Scores go through shared memory, in
// an area of the subgroup, where LANES_OF_ROW of its invocations turn those of a row into weights.
//
// SHARES_KEYS  0: the subgroups of a workgroup compute different queries and share tiles; 1: they compute the same
//              queries, have tiles of their own, and their sums are joined at the end
// SPLITS       SHARES_KEYS: 1: `splits` workgroups share the keys, and store their sums for sdpa_join.comp
// FRAGMENTS_M  fragments of a subgroup along its queries: 1 or 2
// KEY_COLUMNS, KEY_STEPS  fragments along the keys of a tile, of scores and of weights
// HEAD_STEPS, HEAD_COLUMNS  fragments along a head, of products of q and k, and of sums of values
// FRAGMENTS_OF_SCORES  FRAGMENTS_M * KEY_COLUMNS
// SUBGROUPS    of a workgroup
// LANES_OF_ROW  1, 2 or 4
// UNITS_OF_ROW  units of 16 bytes of a row of q, k and v
// MASKED: see transformer/sdpa.glslh; MATRICES, FRAGMENT_M, ...: see common/matrices.glslh

#define F16 1
#define Q8 0
#define MORE_NUMBERS                                         \
  uint blocks; /* tiles of queries of a head of the cache */ \
  uint splits, split_keys;                                   \
  uint workgroups;
#include "common/indexing.glslh"
#include "common/unroll.glslh"
#include "transformer/sdpa.glslh"

layout(constant_id = 4) const uint subgroup_lanes = 32u;  // invocations of a subgroup
layout(constant_id = 5) const uint tile_loads = 1u;       // units of k, and of v, that an invocation loads for a tile
layout(constant_id = 6) const uint pool_units = 1u;       // units of 16 bytes of shared memory

shared uvec4 pool[pool_units];
#define MATRICES_REAL 1
#include "common/matrices.glslh"

layout(set = 0, binding = 0) restrict readonly buffer Q { uvec4 q[]; };
layout(set = 0, binding = 1) restrict readonly buffer K { uvec4 k[]; };
layout(set = 0, binding = 2) restrict readonly buffer V { uvec4 v[]; };
#if MASKED
layout(set = 0, binding = MASK_AT) restrict readonly buffer Mask { float mask[]; };
#endif
#if SPLITS
layout(set = 0, binding = Y_AT) restrict writeonly buffer Partial { vec4 partial[]; };
#else
layout(set = 0, binding = Y_AT) restrict writeonly buffer Y { uvec2 y[]; };
#endif

#define ROWS (FRAGMENTS_M * FRAGMENT_M)
#define KEYS (KEY_COLUMNS * FRAGMENT_N)
#define KEYS_OF_LANE (KEYS / LANES_OF_ROW)
#define QUADS_OF_COLUMN (FRAGMENT_N / 4)

// Shared memory: tiles of k and of v, and the subgroups' areas. Rows are an odd number of units long, so that eight of
// them lie in different banks. A row of an area has KEYS floats, later half as many bytes of weights, and a unit more
// at least; behind its rows there is a float for each.
#define PITCH (UNITS_OF_ROW + 1)
#define TILE_UNITS (2 * KEYS * PITCH)
#if KEYS < 32
#define AREA_PITCH 7  // weights, and behind them sums of a fragment
#else
#define AREA_PITCH (KEYS / 4 + 1)
#endif
#define AREA_UNITS (ROWS * AREA_PITCH + ROWS / 4)

uint k_at, v_at;              // this subgroup's tiles
uint area, row, lane_of_row;  // its area, and this invocation's row in it
uint factors_at;
uint stop;  // keys from here on are for other workgroups, or for none
#if SHARES_KEYS
#define TILES SUBGROUPS
#define NUMBER_OF_TILE subgroup_number()
// The invocations that load a tile together, and their number among them.
uint lane_of_tile() { return lane_of_subgroup(); }
#define LANES_OF_TILE subgroup_lanes
void wait_for_tile() { wait_for_subgroup(); }
#else
#define TILES 1
#define NUMBER_OF_TILE 0u
uint lane_of_tile() { return gl_LocalInvocationID.x; }
#define LANES_OF_TILE gl_WorkGroupSize.x
void wait_for_tile() { barrier(); }
#endif
Query query;    // of the row
bool is_there;  // whether the row is a query's own
float largest = MINUS_INFINITY;
float total = 0.0;  // of the weights of this invocation

uint area_row() { return area + row * AREA_PITCH; }

// Indexed by constants only: see linear/linear_coopmat.comp.
A_MATRIX q_rows[FRAGMENTS_M * HEAD_STEPS];
SUM_MATRIX scores[FRAGMENTS_M * KEY_COLUMNS];
REAL_MATRIX sums[FRAGMENTS_M * HEAD_COLUMNS];

// --- queries ---------------------------------------------------------------------------------------------------------
#define UNITS_OF_STEP (FRAGMENT_K / 8)
#define LOAD_QUERY_ROWS(i, step) LOAD_A(q_rows[(i)*HEAD_STEPS + step], area + (i)*FRAGMENT_M * AREA_PITCH, AREA_PITCH);
#define LOAD_QUERY_STEP(step)                                                                                     \
  {                                                                                                               \
    for (uint i_unit = lane_of_row; i_unit < UNITS_OF_STEP; i_unit += LANES_OF_ROW)                               \
      pool[area_row() + i_unit] = q[guard_words / 4u + query.row * UNITS_OF_ROW + (step)*UNITS_OF_STEP + i_unit]; \
    wait_for_subgroup();                                                                                          \
    EACH_INNER(FRAGMENTS_M, LOAD_QUERY_ROWS, step)                                                                \
    wait_for_subgroup();                                                                                          \
  }

#if SHARES_KEYS
// The tile of k has room for whole rows.
#define LOAD_STEP_OF_ROWS(step, i) \
  LOAD_A(q_rows[(i)*HEAD_STEPS + step], k_at + (i)*FRAGMENT_M * PITCH + (step)*UNITS_OF_STEP, PITCH);
#define LOAD_ROWS(i) EACH_INNER(HEAD_STEPS, LOAD_STEP_OF_ROWS, i)

void load_queries() {
  UNROLLED for (uint i = 0u; i < UNITS_OF_ROW; i += LANES_OF_ROW) {
    if (i + lane_of_row >= UNITS_OF_ROW) break;
    pool[k_at + row * PITCH + i + lane_of_row] = q[guard_words / 4u + query.row * UNITS_OF_ROW + i + lane_of_row];
  }
  wait_for_subgroup();
  EACH(FRAGMENTS_M, LOAD_ROWS)
}
#else
void load_queries() { EACH(HEAD_STEPS, LOAD_QUERY_STEP) }
#endif

// --- tiles of k and v ------------------------------------------------------------------------------------------------
#include "transformer/sdpa_tiles.glslh"

// --- scores and weights ----------------------------------------------------------------------------------------------
#define CLEAR_SCORES(i) CLEAR_SUMS(scores[i]);
#define MULTIPLY_SCORES(i, j, step) MULTIPLY_ADD(q_rows[(i)*HEAD_STEPS + step], keys, scores[(i)*KEY_COLUMNS + j]);
#if FRAGMENTS_M == 2
#define EACH_FRAGMENT(WHAT, j, step) WHAT(0, j, step) WHAT(1, j, step)
#else
#define EACH_FRAGMENT(WHAT, j, step) WHAT(0, j, step)
#endif
#define SCORE_COLUMN(j, step)                                                  \
  {                                                                            \
    B_MATRIX keys;                                                             \
    LOAD_B(keys, k_at + (j)*FRAGMENT_N * PITCH + (step)*UNITS_OF_STEP, PITCH); \
    EACH_FRAGMENT(MULTIPLY_SCORES, j, step)                                    \
  }
#define SCORE_STEP(step) EACH_INNER(KEY_COLUMNS, SCORE_COLUMN, step)
#define STORE_SCORES(i, j) \
  STORE_SUMS(scores[(i)*KEY_COLUMNS + j], area + (i)*FRAGMENT_M * AREA_PITCH + (j)*QUADS_OF_COLUMN, AREA_PITCH);
#define STORE_SCORE_COLUMN(j) EACH_INNER(FRAGMENTS_M, STORE_SCORES, j)

void store_scores() {
  EACH(FRAGMENTS_OF_SCORES, CLEAR_SCORES)
  EACH(HEAD_STEPS, SCORE_STEP)
  EACH(KEY_COLUMNS, STORE_SCORE_COLUMN)
}

bool is_hidden(uint key) {
#if MASKED
  if (key < query.end && mask[guard_words + query.token * push.valid + key] == MINUS_INFINITY) return true;
#endif
  return key >= min(query.end, stop);
}

float visible_score(float product_of_row, uint key) {
  if (is_hidden(key)) return MINUS_INFINITY;
#if MASKED
  return product(product_of_row, push.scale) + mask[guard_words + query.token * push.valid + key] * LOG2_OF_E;
#else
  return product(product_of_row, push.scale);
#endif
}

float weight_of(float score) { return score == MINUS_INFINITY ? 0.0 : exp2(score - largest); }

// Whether the row's query sees all keys of a tile, which saves most of what there is to do for each of them.
bool sees_all(uint first) { return MASKED == 0 && first + KEYS <= min(query.end, stop); }

// Turns the scores of the row into weights, half floats in their place, and leaves the factor of what was summed
// before. Whatever max() makes of a NaN, the row becomes NaN.
void weigh(uint first) {
  const uint first_of_lane = lane_of_row * KEYS_OF_LANE;
  const bool all = sees_all(first);
  vec4 own[KEYS_OF_LANE / 4];
  float raised = MINUS_INFINITY;
  UNROLLED for (uint i = 0u; i < KEYS_OF_LANE / 4u; ++i) {
    own[i] = uintBitsToFloat(pool[area_row() + first_of_lane / 4u + i]);
    if (all) {
      own[i] *= push.scale;
    } else {
      UNROLLED for (uint e = 0u; e < 4u; ++e) own[i][e] = visible_score(own[i][e], first + first_of_lane + 4u * i + e);
    }
    raised = max(raised, max(max(own[i].x, own[i].y), max(own[i].z, own[i].w)));
  }
#if LANES_OF_ROW > 1
  pool[area_row() + AREA_PITCH - 1u][lane_of_row] = floatBitsToUint(raised);
  wait_for_subgroup();
  const vec4 of_lanes = uintBitsToFloat(pool[area_row() + AREA_PITCH - 1u]);
  UNROLLED for (uint i = 0u; i < LANES_OF_ROW; ++i) raised = max(raised, of_lanes[i]);
#endif
  raised = max(raised, largest);
  const float factor = largest == MINUS_INFINITY ? 0.0 : exp2(largest - raised);
  largest = raised;
  total *= factor;
  UNROLLED for (uint i = 0u; i < KEYS_OF_LANE / 8u; ++i) {
    vec4 low = own[2u * i], high = own[2u * i + 1u];
    if (all) {
      low = exp2(low - largest);
      high = exp2(high - largest);
    } else {
      UNROLLED for (uint e = 0u; e < 4u; ++e) {
        low[e] = weight_of(low[e]);
        high[e] = weight_of(high[e]);
      }
    }
    total += ((low.x + low.y) + (low.z + low.w)) + ((high.x + high.y) + (high.z + high.w));
    pool[area_row() + first_of_lane / 8u + i] =
        uvec4(packHalf2x16(low.xy), packHalf2x16(low.zw), packHalf2x16(high.xy), packHalf2x16(high.zw));
  }
  if (lane_of_row == 0u) pool[factors_at + row / 4u][row % 4u] = floatBitsToUint(factor);
}

// --- sums of values --------------------------------------------------------------------------------------------------
#define SCALE_ELEMENT(e, j, i) ELEMENT(sums[(i)*HEAD_COLUMNS + j], e) *= ELEMENT(factors, e);
#define SCALE_FRAGMENT(j, i) EACH_ELEMENT(SCALE_ELEMENT, j, i)
#define SCALE_ROWS(i)                                           \
  {                                                             \
    REAL_MATRIX factors;                                        \
    LOAD_PER_ROW(factors, factors_at + (i) * (FRAGMENT_M / 4)); \
    EACH_INNER(HEAD_COLUMNS, SCALE_FRAGMENT, i)                 \
  }

#define MULTIPLY_VALUES(i, j, step) MULTIPLY_ADD(weights[i], values, sums[(i)*HEAD_COLUMNS + j]);
#define VALUE_COLUMN(j, step)                                                                 \
  {                                                                                           \
    B_MATRIX values;                                                                          \
    LOAD_B_BY_ROWS(values, v_at + (step)*FRAGMENT_K * PITCH + (j) * (FRAGMENT_N / 8), PITCH); \
    EACH_FRAGMENT(MULTIPLY_VALUES, j, step)                                                   \
  }
#define LOAD_WEIGHTS(i, step) \
  LOAD_A(weights[i], area + (i)*FRAGMENT_M * AREA_PITCH + (step) * (FRAGMENT_K / 8), AREA_PITCH);
#define VALUE_STEP(step)                         \
  {                                              \
    A_MATRIX weights[FRAGMENTS_M];               \
    EACH_INNER(FRAGMENTS_M, LOAD_WEIGHTS, step)  \
    EACH_INNER(HEAD_COLUMNS, VALUE_COLUMN, step) \
  }

// A tile of v with a NaN: products by a weight of 0 would spread it to queries that do not see it. Each row's sums are
// made one by one, and wait behind its weights to be added.
#define SUMS_OF_ROW_AT (KEYS / 8)
void store_sums_of_row(uint first, uint quad) {
  for (uint i = lane_of_row; i < QUADS_OF_COLUMN; i += LANES_OF_ROW) {
    vec4 sum_of_row = vec4(0.0);
    for (uint key = 0u; key < KEYS; ++key) {
      if (is_hidden(first + key)) continue;
      const float weight = unpackHalf2x16(pool[area_row() + key / 8u][key / 2u % 4u])[key % 2u];
      const uvec4 unit = pool[v_at + key * PITCH + (quad + i) / 2u];
      sum_of_row += weight * unpack_halves((quad + i) % 2u == 0u ? unit.xy : unit.zw);
    }
    pool[area_row() + SUMS_OF_ROW_AT + i] = floatBitsToUint(sum_of_row);
  }
}
#define ADD_ELEMENT(e, i, j) ELEMENT(sums[(i)*HEAD_COLUMNS + j], e) += ELEMENT(part, e);
#define ADD_PART(i, j)                                                                 \
  {                                                                                    \
    REAL_MATRIX part;                                                                  \
    LOAD_REALS(part, area + (i)*FRAGMENT_M * AREA_PITCH + SUMS_OF_ROW_AT, AREA_PITCH); \
    EACH_ELEMENT(ADD_ELEMENT, i, j)                                                    \
  }
#define ADD_COLUMN_OF_ROWS(j)                    \
  store_sums_of_row(first, (j)*QUADS_OF_COLUMN); \
  wait_for_subgroup();                           \
  EACH_INNER(FRAGMENTS_M, ADD_PART, j)           \
  wait_for_subgroup();

#if SHARES_KEYS && MATRICES == MATRICES_PLAIN
// What stands for a subgroup waits for the whole workgroup: all sum row by row where one of them must.
bool tile_has_nan(uint first) {
  const uint first_of_all = first - NUMBER_OF_TILE * KEYS;
  bool found = false;
  for (uint i = 0u; i < SUBGROUPS; ++i) found = found || tile_with_nan[i] > first_of_all;
  return found;
}
#else
bool tile_has_nan(uint first) { return tile_with_nan[NUMBER_OF_TILE] == first + 1u; }
#endif

void add_values(uint first) {
  EACH(FRAGMENTS_M, SCALE_ROWS)
  if (tile_has_nan(first)) {
    EACH(HEAD_COLUMNS, ADD_COLUMN_OF_ROWS)
  } else {
    EACH(KEY_STEPS, VALUE_STEP)
  }
}

// --- y ---------------------------------------------------------------------------------------------------------------
#if !SPLITS
void store_quad(uint quad, vec4 values, float of_weights) {
  if (of_weights == 0.0) values = vec4(0.0);
  values = is_nan(of_weights) ? vec4(NOT_A_NUMBER) : values / (of_weights == 0.0 ? 1.0 : of_weights);
  y[GUARD_QUADS + query.row * push.quads + quad] = pack_halves(values);
}
#endif

void join_totals() {
#if LANES_OF_ROW > 1
  pool[area_row() + AREA_PITCH - 1u][lane_of_row] = floatBitsToUint(total);
  wait_for_subgroup();
  const vec4 of_lanes = uintBitsToFloat(pool[area_row() + AREA_PITCH - 1u]);
  total = 0.0;
  UNROLLED for (uint i = 0u; i < LANES_OF_ROW; ++i) total += of_lanes[i];
#endif
}

#if SHARES_KEYS
// The sums of all subgroups lie in their tiles' memory, and behind the rows of their areas the largest scores and the
// totals. Each invocation adds what the subgroups have of some quads of a row.
#define SUMS_PITCH (HEAD_COLUMNS * QUADS_OF_COLUMN + 1)
#define STAGE_SUMS(j, i) \
  STORE_SUMS(sums[(i)*HEAD_COLUMNS + j], k_at + (i)*FRAGMENT_M * SUMS_PITCH + (j)*QUADS_OF_COLUMN, SUMS_PITCH);
#define STAGE_ROWS(i) EACH_INNER(HEAD_COLUMNS, STAGE_SUMS, i)

vec2 share_of(uint subgroup) {
  return uintBitsToFloat(pool[SUBGROUPS * TILE_UNITS + subgroup * AREA_UNITS + row * AREA_PITCH].xy);
}

void store_rows(uint number, uint split) {
  wait_for_subgroup();
  EACH(FRAGMENTS_M, STAGE_ROWS)
  if (lane_of_row == 0u) pool[area_row()].xy = floatBitsToUint(vec2(largest, total));
  barrier();
  float joined = MINUS_INFINITY;
  UNROLLED for (uint i = 0u; i < SUBGROUPS; ++i) joined = max(joined, share_of(i).x);
  float factors[SUBGROUPS];
  float of_weights = 0.0;
  UNROLLED for (uint i = 0u; i < SUBGROUPS; ++i) {
    const vec2 share = share_of(i);
    factors[i] = share.x == MINUS_INFINITY ? 0.0 : exp2(share.x - joined);
    of_weights += share.y * factors[i];
  }
  if (!is_there) return;
  const uint lanes = SUBGROUPS * LANES_OF_ROW;
  for (uint quad = subgroup_number() * LANES_OF_ROW + lane_of_row; quad < push.quads; quad += lanes) {
    vec4 values = vec4(0.0);
    UNROLLED for (uint i = 0u; i < SUBGROUPS; ++i) {
      values += factors[i] * uintBitsToFloat(pool[i * TILE_UNITS + row * SUMS_PITCH + quad]);
    }
#if SPLITS
    partial[guard_words / 4u + (number * push.splits + split) * (push.quads + 1u) + quad] = values;
#else
    store_quad(quad, values, of_weights);
#endif
  }
#if SPLITS
  if (subgroup_number() + lane_of_row > 0u) return;
  const uint at = (number * push.splits + split) * (push.quads + 1u) + push.quads;
  partial[guard_words / 4u + at] = vec4(joined, of_weights, 0.0, 0.0);
#endif
}
#else
#define STAGE_SUMS(i, j) STORE_SUMS(sums[(i)*HEAD_COLUMNS + j], area + (i)*FRAGMENT_M * AREA_PITCH, AREA_PITCH);
#define STORE_COLUMN(j)                                                          \
  wait_for_subgroup();                                                           \
  EACH_INNER(FRAGMENTS_M, STAGE_SUMS, j)                                         \
  wait_for_subgroup();                                                           \
  for (uint n = lane_of_row; n < QUADS_OF_COLUMN && is_there; n += LANES_OF_ROW) \
    store_quad((j)*QUADS_OF_COLUMN + n, uintBitsToFloat(pool[area_row() + n]), total);

void store_rows(uint number, uint split) { EACH(HEAD_COLUMNS, STORE_COLUMN) }
#endif

#define CLEAR_COLUMN(j, i) CLEAR_REALS(sums[(i)*HEAD_COLUMNS + j]);
#define CLEAR_ROWS(i) EACH_INNER(HEAD_COLUMNS, CLEAR_COLUMN, i)

void main() {
  uint number = flat_workgroup();
  if (number >= push.workgroups) return;
  const uint split = number % push.splits;
  number /= push.splits;
  const HeadBlock own = block_of_workgroup(number, push.workgroups / (push.splits * push.blocks), push.blocks);
  const uint head = own.head, block = own.block;
#if SHARES_KEYS
  const uint rows_of_workgroup = ROWS, first_row = 0u, tiles_at_once = SUBGROUPS;
#else
  const uint rows_of_workgroup = SUBGROUPS * ROWS, first_row = subgroup_number() * ROWS, tiles_at_once = 1u;
#endif
  k_at = NUMBER_OF_TILE * TILE_UNITS;
  v_at = k_at + KEYS * PITCH;
  area = (SHARES_KEYS == 1 ? SUBGROUPS : 1u) * TILE_UNITS + subgroup_number() * AREA_UNITS;
  factors_at = area + ROWS * AREA_PITCH;
  row = lane_of_subgroup() / LANES_OF_ROW;
  lane_of_row = lane_of_subgroup() % LANES_OF_ROW;
  const uint number_of_query = block * rows_of_workgroup + first_row + row;
  is_there = number_of_query < push.queries;
  query = query_of(head, min(number_of_query, push.queries - 1u));
  stop = query_of(head, min((block + 1u) * rows_of_workgroup, push.queries) - 1u).end;
  stop = min(stop, (split + 1u) * push.split_keys);

  if (lane_of_tile() == 0u) tile_with_nan[NUMBER_OF_TILE] = 0u;
  EACH(FRAGMENTS_M, CLEAR_ROWS)
  uint first = split * push.split_keys + NUMBER_OF_TILE * KEYS;
  const uint step_of_tiles = tiles_at_once * KEYS;
  load_tile(first);
  load_queries();
  for (uint of_all = split * push.split_keys; of_all < stop; of_all += step_of_tiles) {
    wait_for_tile();  // the tile before has been read
    keep_tile();
    note_nan(first);
    wait_for_tile();
    if (of_all + step_of_tiles < stop) load_tile(first + step_of_tiles);
    store_scores();
    wait_for_subgroup();
    weigh(first);
    wait_for_subgroup();
    add_values(first);
    first += step_of_tiles;
  }
  wait_for_subgroup();
  join_totals();
  store_rows(head * push.queries + number_of_query, split);
}
