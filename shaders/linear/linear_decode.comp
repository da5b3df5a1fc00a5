#version 450
#extension GL_GOOGLE_include_directive : require

// y = x * transpose(w) for few rows, by cooperative matrices of half floats whose elements' places are known
// (common/placed_matrices.glslh). Output channels are the rows of products, eight rows of x their columns. Weights and
// x go from memory to registers, where they become elements of matrices; subgroups, which share K, wait for each other
// at the end alone.
//
// GROUPED      1: x is int8, and sums are of (x - its zero point) * (nibble - stored zero); 0: x is real
// SCALES_SUMS  1: the four units of a step are of one group, and after each step its sums are scaled and added in
//              float32; 0: the weights are scaled, or all of a channel have one scale
// FRAGMENTS    16 output channels each, of a workgroup: 1, 2 or 4
// SUBGROUPS    of a workgroup
// STAGES       steps that are loaded before the first of them is multiplied: 1 or 2
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

#define BY_CHANNEL SCALES_SUMS
#include "linear/numbers.glslh"
#include "linear/tiles.glslh"
#include "linear/weights.glslh"
#if GROUPED
#include "linear/x_int8.glslh"
#else
#include "linear/x_real.glslh"
#endif
#include "linear/y.glslh"

shared uvec4 pool[pool_units];
#include "common/placed_matrices.glslh"
#include "linear/halves.glslh"
#include "linear/placed_operands.glslh"

#define ROWS 8u
#define VALUES_OF_UNIT (8u * EIGHTS)
#define HALVES_OF_FRAGMENTS (2 * FRAGMENTS)
#define QUADS (4u * FRAGMENTS)
#if GROUPED
#define LOADS_OF_X (EIGHTS / 2)
#else
#define LOADS_OF_X EIGHTS
#endif

// --- loads -----------------------------------------------------------------------------------------------------------
// Channels and units that do not exist are the last ones: such channels are not stored, and x is 0 past its end. After
// the last step nothing is multiplied that is loaded.
struct Step {
  uvec4 units[HALVES_OF_FRAGMENTS];
#if SCALES_SUMS
  float scales[HALVES_OF_FRAGMENTS];
#elif W_BITS == 4
  uint scales[HALVES_OF_FRAGMENTS];
#endif
#ifdef W_ZERO_AT
  int zero_points[HALVES_OF_FRAGMENTS];
#endif
#if GROUPED
  float less;  // what halves_of_bytes() subtracts: x's zero point as well
#endif
  uint first_value;  // along K
  uvec4 values[LOADS_OF_X];
};

// Indexed by constants only, but for plain code: see linear/linear_coopmat.comp.
Step steps[STAGES];
SUM_MATRIX sums[FRAGMENTS];
#if SCALES_SUMS
vec4 totals[FRAGMENTS];
#endif

#if GROUPED
uvec4 load_values(Row row, uint first) { return x_four(row, first / 4u); }
#else
uvec4 load_values(Row row, uint first) { return x_halves(row, first); }
#endif

#define UNITS_OF_STEP (4u * SUBGROUPS)
uint units_of_row() { return push.blocks / 4u; }

// `first_unit`: of the step of all subgroups.
Step load_step(Tile tile, Row row, uint first_unit) {
  const uint unit = first_unit + 4u * subgroup_number() + of_four();
  const uint existing = min(unit, units_of_row() - 1u);
#if W_BITS == 4
  const uint group = divide(existing * 4u, push.by_group);
#endif
  Step step;
  [[unroll]] for (uint i = 0u; i < HALVES_OF_FRAGMENTS; ++i) {
    const uint channel = min(tile.first_quad * 4u + 8u * i + of_group(), push.columns - 1u);
    step.units[i] = w_unit(channel, existing, units_of_row());
#if SCALES_SUMS
    step.scales[i] = w_scale(group, channel, push.quads);
#elif W_BITS == 4
    step.scales[i] = w_half_scale(group, channel, push.quads);
#endif
#ifdef W_ZERO_AT
    step.zero_points[i] = w_zero_point(group, channel, push.quads);
#endif
  }
#if GROUPED
  step.less = 1152.0 + float(x_zero_point(row.index));
#endif
  step.first_value = unit * VALUES_OF_UNIT;
  [[unroll]] for (uint i = 0u; i < LOADS_OF_X; ++i) {
    step.values[i] = load_values(row, step.first_value + VALUES_OF_UNIT / LOADS_OF_X * i);
  }
  return step;
}

// --- products --------------------------------------------------------------------------------------------------------
// Words of halves that meet in a product: .xy in the first one, .zw in the last.
#ifdef W_ZERO_AT
#define STORED_ZERO(of, half_of_fragment) float(8 + of.zero_points[half_of_fragment])
#else
#define STORED_ZERO(of, half_of_fragment) 8.0
#endif
uvec4 weights_of(Step of, uint half_of_fragment, uint i) {
  const uvec4 unit = of.units[half_of_fragment];
#if GROUPED
  return halves_of_bytewise_nibbles(unit[i], STORED_ZERO(of, half_of_fragment));
#elif SCALES_SUMS
  return halves_of_nibbles(unit[i], 8.0);
#elif W_BITS == 4
  return scaled_nibbles(unit[i], of.scales[half_of_fragment]);
#else
  return uvec4(halves_of_bytes(unit[2u * i]), halves_of_bytes(unit[2u * i + 1u]));
#endif
}

uvec4 values_of(Step of, uint i) {
#if GROUPED
  const uvec4 words = of.values[i / 2u];
  const uint first = i % 2u * 2u;
  return uvec4(halves_of_bytes(words[first], of.less), halves_of_bytes(words[first + 1u], of.less));
#else
  return of.values[i];
#endif
}

uvec4 existing_values(Step of, uint i) { return of.first_value + 8u * i < push.depth ? values_of(of, i) : uvec4(0u); }

#define ADD_FRAGMENT(f, i)                               \
  {                                                      \
    const uvec4 low = weights_of(of, 2u * (f), i);       \
    const uvec4 high = weights_of(of, 2u * (f) + 1u, i); \
    A_MATRIX first_weights, last_weights;                \
    SET_A(first_weights, low.xy, high.xy)                \
    SET_A(last_weights, low.zw, high.zw)                 \
    MULTIPLY_ADD(first_weights, first_values, sums[f]);  \
    MULTIPLY_ADD(last_weights, last_values, sums[f]);    \
  }
#define ADD_EIGHT(i)                               \
  {                                                \
    const uvec4 eight = existing_values(of, i);    \
    B_MATRIX first_values, last_values;            \
    SET_B(first_values, eight.xy)                  \
    SET_B(last_values, eight.zw)                   \
    EACH_INNER_PRODUCT(FRAGMENTS, ADD_FRAGMENT, i) \
  }
#define CLEAR_FRAGMENT(f) CLEAR_SUMS(sums[f]);

#if SCALES_SUMS
#define ADD_TO_TOTAL(e, f) totals[f][e] += ELEMENT(sums[f], e) * of.scales[2 * (f) + HIGH_ROW(e)];
#define END_FRAGMENT(f)          \
  EACH_INNER(4, ADD_TO_TOTAL, f) \
  CLEAR_FRAGMENT(f)
#define FINAL_SUM(f, e) totals[f][e]
#else
#define END_FRAGMENT(f)
#define FINAL_SUM(f, e) ELEMENT(sums[f], e)
#endif

void add_step(Step of) {
  EACH_PRODUCT(EIGHTS, ADD_EIGHT);
  EACH(FRAGMENTS, END_FRAGMENT);
}

// --- y ---------------------------------------------------------------------------------------------------------------
// The sums of all subgroups, row by row; rows are a quad apart, so that four of them lie in different banks.
uint place_of(uint subgroup, uint row) { return (subgroup * ROWS + row) * (QUADS + 1u); }

#define KEEP_ELEMENT(e, f)                                                                    \
  {                                                                                           \
    const uint channel = 16u * (f) + row_of_lane() + 8u * HIGH_ROW(e);                        \
    const uint at = place_of(subgroup_number(), column_of_lane() + COLUMN(e)) + channel / 4u; \
    pool[at][channel % 4u] = floatBitsToUint(FINAL_SUM(f, e));                                \
  }
#define KEEP_FRAGMENT(f) EACH_INNER(4, KEEP_ELEMENT, f)

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

#if SCALES_SUMS
#define CLEAR_ALL(f) CLEAR_FRAGMENT(f) totals[f] = vec4(0.0);
#else
#define CLEAR_ALL(f) CLEAR_FRAGMENT(f)
#endif

#define LOAD_STAGE(s) steps[s] = load_step(tile, row, (s)*UNITS_OF_STEP);
#define STAGED_UNITS (STAGES * UNITS_OF_STEP)
#define ADD_STAGE(s)                                                                                          \
  if (first_unit < units_of_row()) add_step(steps[s]);                                                        \
  if (first_unit + STAGED_UNITS < units_of_row()) steps[s] = load_step(tile, row, first_unit + STAGED_UNITS); \
  first_unit += UNITS_OF_STEP;

void main() {
  push = numbers();
  const Tile tile = tile_of(flat_workgroup(), ROWS, 16u * FRAGMENTS);
  const Row row = existing_row(tile.first_slot + of_group());
  EACH(STAGES, LOAD_STAGE)
  EACH(FRAGMENTS, CLEAR_ALL)
  // The same number of turns for all subgroups, which plain code needs.
  uint first_unit = 0u;
  while (first_unit < units_of_row()) {
    EACH(STAGES, ADD_STAGE)
  }
  EACH(FRAGMENTS, KEEP_FRAGMENT)
  barrier();
  store_sums(tile);
}
