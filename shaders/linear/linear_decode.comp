#version 450
#extension GL_GOOGLE_include_directive : require

// y = x * transpose(w) for few rows of half floats, by cooperative matrices whose elements' places are known
// (common/placed_matrices.glslh). Output channels are the rows of products, eight rows of x their columns. Weights and
// x go from memory to registers, where they become elements of matrices; subgroups, which share K, wait for each other
// at the end alone.
//
// FRAGMENTS    16 output channels each, of a workgroup: 1, 2 or 4
// SUBGROUPS    of a workgroup
// EIGHTS       eights of values in 16 bytes of weights: 4 of int4, 2 of int8
// MATRICES, FRAGMENT_M, ...: see common/placed_matrices.glslh; FRAGMENT_N is 8
// X_*, W_*, Y_*, SUMS, ...: see the included files
//
// Invocation l of a subgroup, with g = l / 4 and t = l % 4, holds unit t, 16 bytes, of four along K: of output channels
// g and g + 8 of each fragment, and the values of row g of x that meet them. The order of the values in a product is
// free, so that each product takes four neighbours of each t.

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/unroll.glslh"

layout(constant_id = 4) const uint pool_units = 1u;  // units of 16 bytes of shared memory

#include "linear/numbers.glslh"
#include "linear/tiles.glslh"
#include "linear/weights.glslh"
#include "linear/x_real.glslh"
#include "linear/y.glslh"

shared uvec4 pool[pool_units];
#include "common/placed_matrices.glslh"
#include "linear/halves.glslh"

#define ROWS 8u
#define VALUES_OF_UNIT (8u * EIGHTS)
#define HALVES_OF_FRAGMENTS (2 * FRAGMENTS)
#define QUADS (4u * FRAGMENTS)

// Of the step that was loaded last. Indexed by constants only: see linear/linear_coopmat.comp.
uvec4 units[HALVES_OF_FRAGMENTS];
uint scales[HALVES_OF_FRAGMENTS];
uvec4 values[EIGHTS];
uint first_value;  // along K
SUM_MATRIX sums[FRAGMENTS];

// --- loads -----------------------------------------------------------------------------------------------------------
// Channels and units that do not exist are the last ones: such channels are not stored, and x is 0 past its end. After
// the last step nothing is multiplied that is loaded.
#if W_BITS == 4
uint load_scale(uint channel, uint unit) { return w_half_scale(divide(unit * 4u, push.by_group), channel, push.quads); }
#else
uint load_scale(uint channel, uint unit) { return 0u; }
#endif

void load_step(Tile tile, Row row, uint unit, uint units_of_row) {
  const uint existing = min(unit, units_of_row - 1u);
  [[unroll]] for (uint i = 0u; i < HALVES_OF_FRAGMENTS; ++i) {
    const uint channel = min(tile.first_quad * 4u + 8u * i + of_group(), push.columns - 1u);
    units[i] = w_unit(channel, existing, units_of_row);
    scales[i] = load_scale(channel, existing);
  }
  first_value = unit * VALUES_OF_UNIT;
  [[unroll]] for (uint i = 0u; i < EIGHTS; ++i) values[i] = x_halves(row, first_value + 8u * i);
}

// --- products --------------------------------------------------------------------------------------------------------
#if W_BITS == 4
uvec4 weights_of(uvec4 unit, uint i, uint scale) { return scaled_nibbles(unit[i], scale); }
#else
uvec4 weights_of(uvec4 unit, uint i, uint scale) {
  return uvec4(halves_of_bytes(unit[2u * i]), halves_of_bytes(unit[2u * i + 1u]));
}
#endif

uvec4 existing_values(uint i) { return first_value + 8u * i < push.depth ? values[i] : uvec4(0u); }

#define SET_B(b, words)   \
  SET_WORD(b, 0, words.x) \
  SET_WORD(b, 1, words.y)
#define SET_A(a, low, high) \
  SET_WORD(a, 0, low.x)     \
  SET_WORD(a, 1, low.y)     \
  SET_WORD(a, 2, high.x)    \
  SET_WORD(a, 3, high.y)
#define ADD_FRAGMENT(f, i)                                                     \
  {                                                                            \
    const uvec4 low = weights_of(units[2 * (f)], i, scales[2 * (f)]);          \
    const uvec4 high = weights_of(units[2 * (f) + 1], i, scales[2 * (f) + 1]); \
    A_MATRIX first_weights, last_weights;                                      \
    SET_A(first_weights, low.xy, high.xy)                                      \
    SET_A(last_weights, low.zw, high.zw)                                       \
    MULTIPLY_ADD(first_weights, first_values, sums[f]);                        \
    MULTIPLY_ADD(last_weights, last_values, sums[f]);                          \
  }
#define ADD_EIGHT(i)                        \
  {                                         \
    const uvec4 eight = existing_values(i); \
    B_MATRIX first_values, last_values;     \
    SET_B(first_values, eight.xy)           \
    SET_B(last_values, eight.zw)            \
    EACH_INNER(FRAGMENTS, ADD_FRAGMENT, i)  \
  }

// --- y ---------------------------------------------------------------------------------------------------------------
// The sums of all subgroups, row by row; rows are a quad apart, so that four of them lie in different banks.
uint place_of(uint subgroup, uint row) { return (subgroup * ROWS + row) * (QUADS + 1u); }

#define KEEP_ELEMENT(e, f)                                                                    \
  {                                                                                           \
    const uint channel = 16u * (f) + row_of_lane() + 8u * HIGH_ROW(e);                        \
    const uint at = place_of(subgroup_number(), column_of_lane() + COLUMN(e)) + channel / 4u; \
    pool[at][channel % 4u] = floatBitsToUint(ELEMENT(sums[f], e));                            \
  }
#define KEEP_FRAGMENT(f) EACH_INNER(4, KEEP_ELEMENT, f)
#define CLEAR_FRAGMENT(f) CLEAR_SUMS(sums[f]);

void store_sums(Tile tile) {
  for (uint i = gl_LocalInvocationID.x; i < ROWS * QUADS; i += gl_WorkGroupSize.x) {
    const uint row = i / QUADS, quad = i % QUADS, slot = tile.first_slot + row;
    vec4 sum = vec4(0.0);
    for (uint subgroup = 0u; subgroup < SUBGROUPS; ++subgroup) {
      sum += uintBitsToFloat(pool[place_of(subgroup, row) + quad]);
    }
    store(sum, channels_of(tile.first_quad + quad), row_of(slot), slot);
  }
}

void main() {
  push = numbers();
  const Tile tile = tile_of(flat_workgroup(), ROWS, 16u * FRAGMENTS);
  const Row row = existing_row(tile.first_slot + of_group());
  const uint units_of_row = push.blocks / 4u, step = 4u * SUBGROUPS;
  const uint own = 4u * subgroup_number() + of_four();
  load_step(tile, row, own, units_of_row);
  EACH(FRAGMENTS, CLEAR_FRAGMENT)
  // In plain code all subgroups need the same loop: `of_all` is the first unit of them all.
  for (uint of_all = 0u; of_all < units_of_row; of_all += step) {
    EACH(EIGHTS, ADD_EIGHT)
    load_step(tile, row, of_all + step + own, units_of_row);
  }
  EACH(FRAGMENTS, KEEP_FRAGMENT)
  barrier();
  store_sums(tile);
}
