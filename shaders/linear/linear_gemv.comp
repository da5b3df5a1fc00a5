#version 450
#extension GL_GOOGLE_include_directive : require

// y = x * transpose(w), for few rows: `workers` invocations share the K of 4 * COLUMN_QUADS output channels of ROWS
// rows. Each loads UNITS units of blocks of weights at once, `workers` apart, so that neighbours read neighbouring
// units. The loads with the longest latency come first: the first units, then the numbers that scale the sums, then x.
//
// REAL           1: sums of real values in float32; 0: of int8 values in int32
// GROUPED        int32 sums of each unit, minus the zero point, times the group's scale, in float32; W_BITS 4
// QUANTIZES      x is real, and each workgroup quantizes its row (linear/quantize_row.glslh)
// DOT            see linear/dot4x8.glslh
// COLUMN_QUADS   1 or 2
// ROWS           1, 2, 4 or 8 rows, for which weights are loaded once; 1 where QUANTIZES
// PAIRS          1: a unit is two blocks of one group (W_BITS 4); 0: it is one block
// UNITS          1, 2, 4 or 8; LOADS: COLUMN_QUADS * UNITS
// X_*, W_*, Y_*, SUMS, SUBGROUPS, ...: see the included files

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/unroll.glslh"

layout(constant_id = 4) const uint workers = 32u;

#define BY_QUAD 1
#define ROW_SCALE scale_of_this_row
#include "linear/numbers.glslh"
#include "linear/dot4x8.glslh"
#include "linear/weights.glslh"
#include "linear/y.glslh"
#include "linear/reduce.glslh"
#if QUANTIZES
#include "linear/quantize_row.glslh"
#elif REAL
#include "linear/x_real.glslh"
#else
#include "linear/x_int8.glslh"
#endif

int zero_point = 0;  // of the row of x that is multiplied

#define BLOCKS_OF_UNIT (1u + uint(PAIRS))
uint units() { return push.blocks / BLOCKS_OF_UNIT; }  // along K

// --- a unit of weights -----------------------------------------------------------------------------------------------
struct Weights {
  uvec4 blocks[1 + PAIRS];
};
Weights weights_of(uint quad, uint unit) {
  Weights weights;
  weights.blocks[0] = w_block(quad, unit * BLOCKS_OF_UNIT, push.blocks);
#if PAIRS
  weights.blocks[1] = w_block(quad, unit * BLOCKS_OF_UNIT + 1u, push.blocks);
#endif
  return weights;
}

#if W_BITS == 4
// The numbers that come with a unit.
struct Group {
  vec4 scales;
  ivec4 zero;  // stored nibbles minus their values
};
Group group_of(uint quad, uint unit) {
  const uint group = divide(unit * BLOCKS_OF_UNIT, push.by_group);
#ifdef W_ZERO_AT
  return Group(w_scale(group, quad, push.quads), 8 + w_zero_point(group, quad, push.quads));
#else
  return Group(w_scale(group, quad, push.quads), ivec4(8));
#endif
}
#else
struct Group {
  uint none;
};
Group group_of(uint quad, uint unit) { return Group(0u); }
#endif

// --- the values of x -------------------------------------------------------------------------------------------------
#if REAL && W_BITS == 4
struct Values {
  vec4 quads[2 + 2 * PAIRS];
};
Values values_of(Row row, uint slot, uint unit) {
  Values values;
  const uint first = 2u * unit * BLOCKS_OF_UNIT;
  // K is a multiple of 8: no quad is past the end.
  values.quads[0] = existing_quad(row, first);
  values.quads[1] = existing_quad(row, first + 1u);
#if PAIRS
  values.quads[2] = existing_quad(row, first + 2u);
  values.quads[3] = existing_quad(row, first + 3u);
#endif
  return values;
}
#elif REAL
#define Values vec4
vec4 values_of(Row row, uint slot, uint unit) { return existing_quad(row, unit); }
#else
#if QUANTIZES && W_BITS == 8
uint word_of(Row row, uint slot, uint word) { return quantized_row[word]; }
#elif !QUANTIZES && X_LAYOUT == X_BLOCKS
uint word_of(Row row, uint slot, uint word) { return x_block(slot >> 2, word)[slot & 3u]; }
#elif !QUANTIZES && X_WORDS == 1
uint word_of(Row row, uint slot, uint word) { return existing_word(row, word); }
#endif

#if W_BITS == 8
#define Values uint
uint values_of(Row row, uint slot, uint unit) { return word_of(row, slot, unit); }
#else
#if PAIRS
#define Values uvec4
#else
#define Values uvec2
#endif
#if QUANTIZES
Values values_of(Row row, uint slot, uint unit) { return quantized_row[unit]; }
#elif X_LAYOUT == X_ROWS && X_WORDS > 1
Values values_of(Row row, uint slot, uint unit) { return x[guard_words / X_WORDS + row.index * units() + unit]; }
#else
Values values_of(Row row, uint slot, uint unit) {
  Values values;
  for (uint i = 0u; i < 2u * BLOCKS_OF_UNIT; ++i) values[i] = word_of(row, slot, 2u * BLOCKS_OF_UNIT * unit + i);
  return values;
}
#endif
#endif
#endif

// --- sums ------------------------------------------------------------------------------------------------------------
#if REAL && W_BITS == 4
float dot_of(uint word, vec4 first, vec4 last) {
  const uint upper = word >> 12;
  float sum = first.x * PLACED_NIBBLE_0(word);
  sum += last.x * PLACED_NIBBLE_4(word);
  sum += first.y * PLACED_NIBBLE_1(word);
  sum += last.y * PLACED_NIBBLE_5(word);
  sum += first.z * PLACED_NIBBLE_2(word);
  sum += last.z * PLACED_NIBBLE_6(upper);
  sum += first.w * PLACED_NIBBLE_3(upper);
  sum += last.w * PLACED_NIBBLE_7(upper);
  return sum;
}
vec4 dots_of(uvec4 words, vec4 first, vec4 last) {
  return vec4(dot_of(words.x, first, last), dot_of(words.y, first, last), dot_of(words.z, first, last),
              dot_of(words.w, first, last));
}
#elif REAL
float dot_of(uint word, vec4 values) {
  const uint bytes = word ^ 0x80808080u;
  const uint upper = bytes >> 16;
  float sum = values.x * PLACED_EVEN_BYTE(bytes);
  sum += values.y * PLACED_ODD_BYTE(bytes);
  sum += values.z * PLACED_EVEN_BYTE(upper);
  sum += values.w * PLACED_ODD_BYTE(upper);
  return sum;
}
#endif

SUMS_VEC4 products_of(Weights weights, Values values, Group group) {
  const uvec4 words = weights.blocks[0];
#if GROUPED
  // The sum of (x - zero point) * (nibble - stored zero) over the unit.
  const uint ones = 0x01010101u;
  const uvec4 first = first_nibbles(words), last = last_nibbles(words);
  ivec4 products = dots4x8(values.x, first) + dots4x8(values.y, last);
  uvec4 nibbles = first + last;  // up to 60 per byte
  int x_sum = dot4x8(values.x, ones) + dot4x8(values.y, ones);
#if PAIRS
  const uvec4 more_words = weights.blocks[1];
  const uvec4 more_first = first_nibbles(more_words), more_last = last_nibbles(more_words);
  products += dots4x8(values.z, more_first) + dots4x8(values.w, more_last);
  nibbles += more_first + more_last;
  x_sum += dot4x8(values.z, ones) + dot4x8(values.w, ones);
#endif
  const int depth = int(8u * BLOCKS_OF_UNIT);
  const ivec4 integers = products - zero_point * dots4x8(ones, nibbles) - group.zero * (x_sum - depth * zero_point);
  return small_reals(integers) * group.scales;
#elif REAL && W_BITS == 4
  vec4 sums = dots_of(words, values.quads[0], values.quads[1]);
#if PAIRS
  sums += dots_of(weights.blocks[1], values.quads[2], values.quads[3]);
#endif
  return sums * group.scales;
#elif REAL
  return vec4(dot_of(words.x, values), dot_of(words.y, values), dot_of(words.z, values), dot_of(words.w, values));
#else
  return dots4x8(values, words);
#endif
}

// --- rounds of units -------------------------------------------------------------------------------------------------
Row rows[ROWS];
#if GROUPED
int zero_points[ROWS];
float row_scales[ROWS];
#endif
uint quads[COLUMN_QUADS];
SUMS_VEC4 sums[ROWS * COLUMN_QUADS];
Weights weights[LOADS];
Group groups[LOADS];

// The unit of the round, and the quad of channels, that load i reads.
#define UNIT_OF(i) (unit + ((i) / COLUMN_QUADS) * workers)
#define QUAD_OF(i) quads[(i) % COLUMN_QUADS]
#define LOAD_WEIGHTS(i) weights[i] = weights_of(QUAD_OF(i), UNIT_OF(i));
#define LOAD_GROUP(i) groups[i] = group_of(QUAD_OF(i), UNIT_OF(i));
#define LOAD_VALUES(i, r) values[i] = values_of(rows[r], slot + r, unit + i * workers);
#define SUMS_OF(i, r) sums[(r)*COLUMN_QUADS + (i) % COLUMN_QUADS]
#define ADD_PRODUCTS(i, r) SUMS_OF(i, r) += products_of(weights[i], values[(i) / COLUMN_QUADS], groups[i]);
#if GROUPED
#define TAKE_ROW(r) zero_point = zero_points[r];
#else
#define TAKE_ROW(r)
#endif

void load_round(uint unit) {
  EACH(LOADS, LOAD_WEIGHTS)
  EACH(LOADS, LOAD_GROUP)
}

#define ADD_ROUND(r)                   \
  {                                    \
    Values values[UNITS];              \
    TAKE_ROW(r)                        \
    EACH_INNER(UNITS, LOAD_VALUES, r)  \
    EACH_INNER(LOADS, ADD_PRODUCTS, r) \
  }

void add_round(uint slot, uint unit) { EACH(ROWS, ADD_ROUND); }

#if GROUPED
// Rounds in which all workers have units.
uint whole_rounds() { return units() / (UNITS * workers); }
#else
bool is_whole_round(uint unit) { return unit + (UNITS - 1u) * workers < units(); }
#endif

#define ADD_UNIT(i, r) SUMS_OF(i, r) += products_of(weights_of(quads[i], unit), values, group_of(quads[i], unit));
#define ADD_UNIT_OF_ROW(r)                                    \
  {                                                           \
    TAKE_ROW(r)                                               \
    const Values values = values_of(rows[r], slot + r, unit); \
    EACH_INNER(COLUMN_QUADS, ADD_UNIT, r)                     \
  }

void add_units(uint slot, uint first) {
  for (uint unit = first; unit < units(); unit += workers) {
    EACH(ROWS, ADD_UNIT_OF_ROW)
  }
}

#define CLEAR_SUMS(i, r) SUMS_OF(i, r) = SUMS_VEC4(0);
// Loads do not check whether a row exists: a kernel would wait for each of them. Results of another row are not stored.
#define FIND_ROW(r)                 \
  rows[r] = existing_row(slot + r); \
  EACH_INNER(COLUMN_QUADS, CLEAR_SUMS, r)
#if GROUPED && !QUANTIZES
#define LOAD_ROW_TABLES(r)                      \
  zero_points[r] = x_zero_point(rows[r].index); \
  row_scales[r] = x_scale(rows[r].index);
#endif
#define FIND_QUAD(i) quads[i] = min(part * COLUMN_QUADS + i, push.quads - 1u);
#define LOAD_TABLES(i) tables[i] = tables_of(quads[i]);
#if GROUPED
#define SCALE_ROW(r) ROW_SCALE = row_scales[r];
#else
#define SCALE_ROW(r)
#endif
// One worker per row and quad of channels stores it.
#define STORE(i, r)                                                          \
  {                                                                          \
    const SUMS_VEC4 sum_of_all = sum_of_workers(SUMS_OF(i, r), lane);        \
    const bool is_last = (part * COLUMN_QUADS + i) >= push.quads;            \
    if (worker == (uint((r)*COLUMN_QUADS + i) & (workers - 1u)) && !is_last) \
      store(sum_of_all, channels_of(tables[i]), row_of(slot + r), slot + r); \
  }
#define STORE_ROW(r) \
  SCALE_ROW(r)       \
  EACH_INNER(COLUMN_QUADS, STORE, r)

void main() {
  push = numbers();
#if REAL
  set_powers();
#endif
  const uint lane = flat_lane();
  const uint worker = lane & (workers - 1u);
  const uint number = flat_workgroup();
  const uint set = divide(number, push.by_tiles), slot = set * ROWS;
  const uint part = (number - set * push.tiles_n) * (gl_WorkGroupSize.x / workers) + lane / workers;
  EACH(ROWS, FIND_ROW)
  EACH(COLUMN_QUADS, FIND_QUAD)

  // Two forms of one loop: a compiler that knows the number of rounds from built-in numbers makes the shorter kernel
  // from this form where groups are scaled, and from the other form elsewhere (NOTES.md).
#if GROUPED
  const uint rounds = whole_rounds();
  if (rounds > 0u) load_round(worker);
#else
  uint unit = worker;
  bool is_whole = is_whole_round(unit);
  if (is_whole) load_round(unit);
#endif
  ChannelTables tables[COLUMN_QUADS];
  EACH(COLUMN_QUADS, LOAD_TABLES)
#if QUANTIZES
  const RowQuantizer by = quantize_row(rows[0], lane);
#if GROUPED
  zero_points[0] = by.zero_point;
  row_scales[0] = by.scale;
#endif
#elif GROUPED
  EACH(ROWS, LOAD_ROW_TABLES)
#endif
#if GROUPED
  for (uint round = 0u; round < rounds; ++round) {
    add_round(slot, round * UNITS * workers + worker);
    if (round + 1u < rounds) load_round((round + 1u) * UNITS * workers + worker);
  }
  if (rounds * UNITS * workers < units()) add_units(slot, rounds * UNITS * workers + worker);
#else
  while (is_whole) {
    add_round(slot, unit);
    unit += UNITS * workers;
    is_whole = is_whole_round(unit);
    if (is_whole) load_round(unit);
  }
  add_units(slot, unit);
#endif
  EACH(ROWS, STORE_ROW)
}
