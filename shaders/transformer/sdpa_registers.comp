#version 450
#extension GL_GOOGLE_include_directive : require

// Attention of many queries by cooperative matrices of half floats whose elements' places are known
// (common/placed_matrices.glslh), in one pass over the keys. A subgroup computes 16 queries that read the same head of
// the cache; the subgroups of a workgroup share tiles of KEYS rows of k and v. Scores and weights stay in registers:
// sums of products of q and k become weights where they are, and rows of the next product. The four invocations
// that hold a row exchange its largest score and its total.
//
// KEY_COLUMNS  fragments along the keys of a tile
// HEAD_STEPS, HEAD_COLUMNS  fragments along a head, of products of q and k, and of sums of values
// SUBGROUPS    of a workgroup
// UNITS_OF_ROW  units of 16 bytes of a row of q, k and v
// MASKED: see transformer/sdpa.glslh; MATRICES, FRAGMENT_M, ...: see common/placed_matrices.glslh

#define F16 1
#define Q8 0
#define MORE_NUMBERS                                         \
  uint blocks; /* tiles of queries of a head of the cache */ \
  uint workgroups, first_turn;
#include "common/indexing.glslh"
#include "common/unroll.glslh"
#include "transformer/sdpa.glslh"

layout(constant_id = 5) const uint tile_loads = 1u;  // units of k, and of v, that an invocation loads for a tile
layout(constant_id = 6) const uint pool_units = 1u;  // units of 16 bytes of shared memory

shared uvec4 pool[pool_units];
#include "common/placed_matrices.glslh"

layout(set = 0, binding = 0) restrict readonly buffer Q { uint q[]; };
layout(set = 0, binding = 1) restrict readonly buffer K { uvec4 k[]; };
layout(set = 0, binding = 2) restrict readonly buffer V { uvec4 v[]; };
#if MASKED
layout(set = 0, binding = MASK_AT) restrict readonly buffer Mask { float mask[]; };
#endif
layout(set = 0, binding = Y_AT) restrict writeonly buffer Y { uint y[]; };

#define ROWS 16u
#define KEYS (KEY_COLUMNS * FRAGMENT_N)
#define PITCH (UNITS_OF_ROW + 1)  // an odd number of units: eight rows lie in different banks
#define TILES 1
#define NUMBER_OF_TILE 0u
#define LANES_OF_TILE gl_WorkGroupSize.x
uint lane_of_tile() { return gl_LocalInvocationID.x; }
const uint v_at = 0u, k_at = KEYS * PITCH;

Query query;
uint stop;         // the first key that no query of the workgroup sees
uint seen_by_all;  // keys before are seen by all queries of the workgroup
#include "transformer/sdpa_tiles.glslh"

// The two rows of which this invocation holds elements.
uint ends[2];    // keys from here on are hidden
uint tokens[2];  // of their queries
float largest[2];
float totals[2];  // of the weights that this invocation holds

// Indexed by constants only, but for plain code: see linear/linear_coopmat.comp.
A_MATRIX q_rows[HEAD_STEPS];
SUM_MATRIX scores[KEY_COLUMNS];
SUM_MATRIX sums[HEAD_COLUMNS];

// --- queries ---------------------------------------------------------------------------------------------------------
#define WORDS_OF_STEP (FRAGMENT_K / 2)
#define LOAD_QUERY_STEP(step)                                     \
  SET_WORD(q_rows[step], 0, q[at[0] + (step)*WORDS_OF_STEP])      \
  SET_WORD(q_rows[step], 1, q[at[0] + (step)*WORDS_OF_STEP + 4u]) \
  SET_WORD(q_rows[step], 2, q[at[1] + (step)*WORDS_OF_STEP])      \
  SET_WORD(q_rows[step], 3, q[at[1] + (step)*WORDS_OF_STEP + 4u])

// Where the words of a row begin in q and y, for this invocation.
uint words_of(uint row) { return guard_words + row * (UNITS_OF_ROW * 4u) + column_of_lane() / 2u; }

void load_queries(uint rows[2]) {
  const uint at[2] = {words_of(rows[0]), words_of(rows[1])};
  EACH(HEAD_STEPS, LOAD_QUERY_STEP)
}

// --- scores and weights ----------------------------------------------------------------------------------------------
#define CLEAR_SCORES(i) CLEAR_SUMS(scores[i]);
#define SCORE_COLUMN(j, step)                                                       \
  {                                                                                 \
    B_MATRIX keys;                                                                  \
    LOAD_B(keys, k_at + (j)*FRAGMENT_N * PITCH + (step) * (FRAGMENT_K / 8), PITCH); \
    MULTIPLY_ADD(q_rows[step], keys, scores[j]);                                    \
  }
#define SCORE_STEP(step) EACH_INNER_PRODUCT(KEY_COLUMNS, SCORE_COLUMN, step)

bool is_hidden(uint high, uint key) {
#if MASKED
  if (key < ends[high] && mask[guard_words + tokens[high] * push.valid + key] == MINUS_INFINITY) return true;
#endif
  return key >= ends[high];
}

// Of a hidden key minus infinity, even if the score is NaN.
float visible_score(float score, uint high, uint key) {
  if (is_hidden(high, key)) return MINUS_INFINITY;
#if MASKED
  return product(score, push.scale) + mask[guard_words + tokens[high] * push.valid + key] * LOG2_OF_E;
#else
  return score;
#endif
}

// With a mask, scores are scaled before it is added; else with the exponent, which takes one instruction less.
#if MASKED
#define SCALED(score) (score)
#else
#define SCALED(score) ((score)*push.scale)
#endif

#define HIDE_ELEMENT(e, j, first) \
  ELEMENT(scores[j], e) =         \
      visible_score(ELEMENT(scores[j], e), HIGH_ROW(e), first + (j)*FRAGMENT_N + COLUMN(e) + column_of_lane());
#define HIDE_COLUMN(j, first) EACH_ELEMENT(HIDE_ELEMENT, j, first)
#define RAISE_ELEMENT(e, j, ignored) raised[HIGH_ROW(e)] = max(raised[HIGH_ROW(e)], ELEMENT(scores[j], e));
#define RAISE_COLUMN(j, ignored) EACH_ELEMENT(RAISE_ELEMENT, j, ignored)
#define WEIGH_ELEMENT(e, j, ignored)                                                     \
  ELEMENT(scores[j], e) = exp2(SCALED(ELEMENT(scores[j], e)) - subtracted[HIGH_ROW(e)]); \
  totals[HIGH_ROW(e)] += ELEMENT(scores[j], e);
#define WEIGH_COLUMN(j, ignored) EACH_ELEMENT(WEIGH_ELEMENT, j, ignored)
#define SCALE_ELEMENT(e, j, ignored) ELEMENT(sums[j], e) *= factors[HIGH_ROW(e)];
#define SCALE_COLUMN(j, ignored) EACH_ELEMENT(SCALE_ELEMENT, j, ignored)

// Turns scores into weights, and scales what was summed before. Whatever max() makes of a NaN, the row becomes NaN.
void weigh() {
  float raised[2] = {MINUS_INFINITY, MINUS_INFINITY};
  EACH_INNER(KEY_COLUMNS, RAISE_COLUMN, 0)
  float factors[2], subtracted[2];
  [[unroll]] for (uint i = 0u; i < 2u; ++i) {
    raised[i] = max(raised[i], shuffled_xor(raised[i], 1u));
    raised[i] = max(raised[i], shuffled_xor(raised[i], 2u));
    raised[i] = max(largest[i], SCALED(raised[i]));
    // Where all keys were hidden so far, weights and the factor become 0.
    subtracted[i] = raised[i] == MINUS_INFINITY ? 0.0 : raised[i];
    factors[i] = exp2(largest[i] - subtracted[i]);
    largest[i] = raised[i];
    totals[i] *= factors[i];
  }
  EACH_INNER(KEY_COLUMNS, WEIGH_COLUMN, 0)
  EACH_INNER(HEAD_COLUMNS, SCALE_COLUMN, 0)
}

// --- sums of values --------------------------------------------------------------------------------------------------
// Elements e and e + 1 of a fragment's scores, as halves.
#define WEIGHTS_OF(j, e) packHalf2x16(vec2(ELEMENT(scores[j], e), ELEMENT(scores[j], (e) + 1)))
#define VALUE_COLUMN(j, step)                                                                 \
  {                                                                                           \
    B_MATRIX values;                                                                          \
    LOAD_B_BY_ROWS(values, v_at + (step)*FRAGMENT_K * PITCH + (j) * (FRAGMENT_N / 8), PITCH); \
    MULTIPLY_ADD(weights, values, sums[j]);                                                   \
  }
#define SET_WEIGHT_WORD(i, step) SET_WORD(weights, i, WEIGHTS_OF(step, 2 * (i)))
#define VALUE_STEP(step)                                 \
  {                                                      \
    A_MATRIX weights;                                    \
    SET_WEIGHT_WORD(0, step)                             \
    SET_WEIGHT_WORD(1, step)                             \
    SET_WEIGHT_WORD(2, step)                             \
    SET_WEIGHT_WORD(3, step)                             \
    EACH_INNER_PRODUCT(HEAD_COLUMNS, VALUE_COLUMN, step) \
  }

// A tile of v with a NaN: products by a weight of 0 would spread it to queries that do not see it. Weights go where the
// tile of k was, and values are added key by key.
#define WEIGHT_UNITS (KEYS / 8)
#define weights_at (k_at + subgroup_number() * (ROWS * WEIGHT_UNITS))
#define WEIGHT_PLACE(j, e) \
  (weights_at + (row_of_lane() + 8u * HIGH_ROW(e)) * WEIGHT_UNITS + ((j)*FRAGMENT_N + COLUMN(e)) / 8u)
#define KEEP_WEIGHT_WORD(i, j) pool[WEIGHT_PLACE(j, 2 * (i))][lane_of_subgroup() % 4u] = WEIGHTS_OF(j, 2 * (i));
#define KEEP_WEIGHTS(j) EACH_INNER(WORDS_OF_SUMS, KEEP_WEIGHT_WORD, j)
#define ADD_ELEMENT(e, j, ignored)                                                                               \
  if (sees[HIGH_ROW(e)]) {                                                                                       \
    ELEMENT(sums[j], e) +=                                                                                       \
        weights[HIGH_ROW(e)] *                                                                                   \
        unpackHalf2x16(pool[row_of_v + (j) * (FRAGMENT_N / 8) + COLUMN(e) / 8][lane_of_subgroup() % 4u])[(e)&1]; \
  }
#define ADD_COLUMN(j, ignored) EACH_ELEMENT(ADD_ELEMENT, j, ignored)

void add_values_of_visible_keys(uint first) {
  barrier();  // all scores of the tile of k have been made
  EACH(KEY_COLUMNS, KEEP_WEIGHTS)
  wait_for_subgroup();
  [[dont_unroll]] for (uint key = 0u; key < KEYS; ++key) {
    const uint row_of_v = v_at + key * PITCH;
    bool sees[2];
    float weights[2];
    [[unroll]] for (uint i = 0u; i < 2u; ++i) {
      sees[i] = !is_hidden(i, first + key);
      const uint word = pool[weights_at + (row_of_lane() + 8u * i) * WEIGHT_UNITS + key / 8u][key % 8u / 2u];
      weights[i] = unpackHalf2x16(word)[key % 2u];
    }
    EACH_INNER(HEAD_COLUMNS, ADD_COLUMN, 0)
  }
}

// --- y ---------------------------------------------------------------------------------------------------------------
float quotient(float sum, float total) {
  if (total == 0.0) return 0.0;
  return is_nan(total) ? NOT_A_NUMBER : sum / total;
}

#define STORE_WORD(i, j)                                                                                             \
  if (is_there[HIGH_ROW(2 * (i))]) {                                                                                 \
    const float total = totals[HIGH_ROW(2 * (i))];                                                                   \
    y[at[HIGH_ROW(2 * (i))] + ((j)*FRAGMENT_N + COLUMN(2 * (i))) / 2u] =                                             \
        pack_halves(vec4(quotient(ELEMENT(sums[j], 2 * (i)), total), quotient(ELEMENT(sums[j], 2 * (i) + 1), total), \
                         0.0, 0.0))                                                                                  \
            .x;                                                                                                      \
  }
#define STORE_COLUMN(j) EACH_INNER(WORDS_OF_SUMS, STORE_WORD, j)

void store_rows(uint rows[2], bool is_there[2]) {
  uint at[2];
  [[unroll]] for (uint i = 0u; i < 2u; ++i) {
    totals[i] += shuffled_xor(totals[i], 1u);
    totals[i] += shuffled_xor(totals[i], 2u);
    at[i] = words_of(rows[i]);
  }
  EACH(HEAD_COLUMNS, STORE_COLUMN)
}

#define CLEAR_COLUMN(j) CLEAR_SUMS(sums[j]);

// The tile that was loaded last. Code for tiles that all queries see whole hides nothing, and a NaN among their values
// is one of each query's sums. `hides` is known when this is compiled.
void add_tile(uint first, const bool hides) {
  barrier();  // the tile before has been read
  keep_tile();
  if (hides) note_nan(first);
  barrier();
  if (first + KEYS < stop) load_tile(first + KEYS);
  EACH(KEY_COLUMNS, CLEAR_SCORES)
  EACH_PRODUCT(HEAD_STEPS, SCORE_STEP)
  if (hides) {
    EACH_INNER(KEY_COLUMNS, HIDE_COLUMN, first)
  }
  weigh();
  if (hides && tile_with_nan[0] == first + 1u) {
    add_values_of_visible_keys(first);
  } else {
    EACH_PRODUCT(KEY_STEPS, VALUE_STEP)
  }
}

// The first turn takes the blocks with most keys, from the longest on, the others follow from the shortest on: where
// all begin at once, two on a shader core, a long and a short one share it.
uint place_by_length(uint number) {
  return number < push.first_turn ? number : push.workgroups - 1u - (number - push.first_turn);
}

void main() {
  const uint number = flat_workgroup();
  if (number >= push.workgroups) return;
  const HeadBlock own = block_of_workgroup(place_by_length(number), push.workgroups / push.blocks, push.blocks);
  const uint head = own.head, block = own.block;
  const uint rows_of_workgroup = SUBGROUPS * ROWS;
  uint rows[2];
  bool is_there[2];
  [[unroll]] for (uint i = 0u; i < 2u; ++i) {
    const uint of_head = block * rows_of_workgroup + subgroup_number() * ROWS + row_of_lane() + 8u * i;
    is_there[i] = of_head < push.queries;
    query = query_of(head, min(of_head, push.queries - 1u));
    rows[i] = query.row;
    ends[i] = query.end;
    tokens[i] = query.token;
    largest[i] = MINUS_INFINITY;
    totals[i] = 0.0;
  }
  stop = query_of(head, min((block + 1u) * rows_of_workgroup, push.queries) - 1u).end;
#if MASKED
  seen_by_all = 0u;
#else
  seen_by_all = query_of(head, block * rows_of_workgroup).end;
#endif

  if (gl_LocalInvocationID.x == 0u) tile_with_nan[0] = 0u;
  EACH(HEAD_COLUMNS, CLEAR_COLUMN)
  load_tile(0u);
  load_queries(rows);
  uint first = 0u;
  for (; first + KEYS <= seen_by_all; first += KEYS) add_tile(first, false);
  for (; first < stop; first += KEYS) add_tile(first, true);
  store_rows(rows, is_there);
}
