#version 450
#extension GL_GOOGLE_include_directive : require

// y = x * transpose(w), for few rows: `workers` invocations share the K of 4 * COLUMN_QUADS output channels of a row.
// Each takes BLOCKS blocks of weights at once, `workers` apart, so that neighbours read neighbouring blocks. What takes
// long to come is asked for first: the first blocks, then what scales the sums, then x.
//
// REAL           sums of real values in float32; else of int8 values in int32
// GROUPED        int32 sums of each block, less the zero point, times the group's scale, in float32; W_BITS 4
// QUANTIZES      x is real, and each workgroup quantizes its row (linear/quantize_row.glslh)
// DOT            see linear/dot4x8.glslh
// COLUMN_QUADS   1 or 2
// BLOCKS         1, 2, 4 or 8; LOADS: COLUMN_QUADS * BLOCKS
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

int zero_point = 0;  // of the row of x

// --- what a block of weights is multiplied with ---------------------------------------------------------------------
#if REAL && W_BITS == 4
struct Values {
  vec4 first, last;
};
Values values_of(Row row, uint slot, uint block) {
  if (!row.exists) return Values(vec4(0.0), vec4(0.0));
  return Values(existing_quad(row, 2u * block), existing_quad(row, 2u * block + 1u));  // K is a multiple of 8
}
#elif REAL
#define Values vec4
vec4 values_of(Row row, uint slot, uint block) { return x_quad(row, block); }
#else
#if QUANTIZES && W_BITS == 8
uint word_of(Row row, uint slot, uint word) { return quantized_row[word]; }
#elif !QUANTIZES && X_LAYOUT == X_BLOCKS
uint word_of(Row row, uint slot, uint word) { return x_block(slot >> 2, word)[slot & 3u]; }
#elif !QUANTIZES && X_WORDS == 1
uint word_of(Row row, uint slot, uint word) { return row.exists ? x_word(row, word) : 0u; }
#endif

#if W_BITS == 8
#define Values uint
uint values_of(Row row, uint slot, uint block) { return word_of(row, slot, block); }
#elif QUANTIZES
#define Values uvec2
uvec2 values_of(Row row, uint slot, uint block) { return quantized_row[block]; }
#elif X_LAYOUT == X_ROWS && X_WORDS == 2
#define Values uvec2
uvec2 values_of(Row row, uint slot, uint block) {
  return row.exists ? x[guard_words / 2u + row.index * push.blocks + block] : uvec2(0u);
}
#else
#define Values uvec2
uvec2 values_of(Row row, uint slot, uint block) {
  return uvec2(word_of(row, slot, 2u * block), word_of(row, slot, 2u * block + 1u));
}
#endif
#endif

// --- what comes with a block of weights ------------------------------------------------------------------------------
#if W_BITS == 4
struct Group {
  vec4 scales;
  ivec4 zero;  // what stored nibbles are more than their values
};
Group group_of(uint quad, uint block) {
  const uint group = divide(block, push.by_group);
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
Group group_of(uint quad, uint block) { return Group(0u); }
#endif

// --- sums ------------------------------------------------------------------------------------------------------------
#if REAL && W_BITS == 4
float dot_of(uint word, Values values) {
  const uint upper = word >> 12;
  float sum = values.first.x * PLACED_NIBBLE_0(word);
  sum += values.last.x * PLACED_NIBBLE_4(word);
  sum += values.first.y * PLACED_NIBBLE_1(word);
  sum += values.last.y * PLACED_NIBBLE_5(word);
  sum += values.first.z * PLACED_NIBBLE_2(word);
  sum += values.last.z * PLACED_NIBBLE_6(upper);
  sum += values.first.w * PLACED_NIBBLE_3(upper);
  sum += values.last.w * PLACED_NIBBLE_7(upper);
  return sum;
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

#if REAL
vec4 dots_of(uvec4 words, Values values) {
  return vec4(dot_of(words.x, values), dot_of(words.y, values), dot_of(words.z, values), dot_of(words.w, values));
}
#endif

SUMS_VEC4 products_of(uvec4 words, Values values, Group group) {
#if GROUPED
  // The sum of (x - zero point) * (nibble - stored zero) over a block.
  const uint ones = 0x01010101u;
  const uvec4 first = first_nibbles(words), last = last_nibbles(words);
  const ivec4 products = dots4x8(values.x, first) + dots4x8(values.y, last);
  const ivec4 nibbles = dots4x8(ones, first + last);
  const int x_sum = dot4x8(values.x, ones) + dot4x8(values.y, ones);
  return small_reals(products - zero_point * nibbles - group.zero * (x_sum - 8 * zero_point)) * group.scales;
#elif REAL && W_BITS == 4
  return dots_of(words, values) * group.scales;
#elif REAL
  return dots_of(words, values);
#else
  return dots4x8(values, words);
#endif
}

// --- rounds of blocks ------------------------------------------------------------------------------------------------
uint quads[COLUMN_QUADS];
SUMS_VEC4 sums[COLUMN_QUADS];
uvec4 words[LOADS];
Group groups[LOADS];

// Of load i: which of the round's blocks, and which quad of channels.
#define BLOCK_OF(i) (block + ((i) / COLUMN_QUADS) * workers)
#define QUAD_OF(i) quads[(i) % COLUMN_QUADS]
#define LOAD_WORDS(i) words[i] = w_block(QUAD_OF(i), BLOCK_OF(i), push.blocks);
#define LOAD_GROUP(i) groups[i] = group_of(QUAD_OF(i), BLOCK_OF(i));
#define LOAD_VALUES(i) values[i] = values_of(row, slot, block + i * workers);
#define ADD_PRODUCTS(i) sums[(i) % COLUMN_QUADS] += products_of(words[i], values[(i) / COLUMN_QUADS], groups[i]);

void load_round(uint block) {
  EACH(LOADS, LOAD_WORDS)
  EACH(LOADS, LOAD_GROUP)
}

void add_round(Row row, uint slot, uint block) {
  Values values[BLOCKS];
  EACH(BLOCKS, LOAD_VALUES)
  EACH(LOADS, ADD_PRODUCTS)
}

bool is_whole_round(uint block) { return block + (BLOCKS - 1u) * workers < push.blocks; }

#define ADD_BLOCK(i) sums[i] += products_of(w_block(quads[i], block, push.blocks), values, group_of(quads[i], block));

void add_blocks(Row row, uint slot, uint first) {
  for (uint block = first; block < push.blocks; block += workers) {
    const Values values = values_of(row, slot, block);
    EACH(COLUMN_QUADS, ADD_BLOCK)
  }
}

#define FIND_QUAD(i)                                        \
  quads[i] = min(part * COLUMN_QUADS + i, push.quads - 1u); \
  sums[i] = SUMS_VEC4(0);
#define LOAD_CHANNELS(i) channels[i] = channels_of(quads[i]);
// One worker a quad of channels stores it.
#define STORE(i)                                                                                     \
  {                                                                                                  \
    const SUMS_VEC4 sum_of_all = sum_of_workers(sums[i], lane);                                      \
    const bool is_last = (part * COLUMN_QUADS + i) >= push.quads;                                    \
    if (worker == min(uint(i), workers - 1u) && !is_last) store(sum_of_all, channels[i], row, slot); \
  }

void main() {
  push = numbers();
  const uint lane = flat_lane();
  const uint worker = lane & (workers - 1u);
  const uint number = flat_workgroup();
  const uint slot = divide(number, push.by_tiles);
  const Row row = row_of(slot);
  const uint part = (number - slot * push.tiles_n) * (gl_WorkGroupSize.x / workers) + lane / workers;
  EACH(COLUMN_QUADS, FIND_QUAD)

  uint block = worker;
  bool is_whole = is_whole_round(block);
  if (is_whole) load_round(block);
  Channels channels[COLUMN_QUADS];
  EACH(COLUMN_QUADS, LOAD_CHANNELS)
#if QUANTIZES
  const RowQuantizer by = quantize_row(row, lane);
  zero_point = by.zero_point;
#if GROUPED
  ROW_SCALE = by.scale;
#endif
#elif GROUPED
  zero_point = row.exists ? x_zero_point(row.index) : 0;
  ROW_SCALE = row.exists ? x_scale(row.index) : 0.0;
#endif
  while (is_whole) {
    add_round(row, slot, block);
    block += BLOCKS * workers;
    is_whole = is_whole_round(block);
    if (is_whole) load_round(block);
  }
  add_blocks(row, slot, block);
  EACH(COLUMN_QUADS, STORE)
}
