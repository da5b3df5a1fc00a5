#version 450
#extension GL_GOOGLE_include_directive : require

// y = x * transpose(w) for many rows, by cooperative matrices of half floats whose elements' places are known
// (common/placed_matrices.glslh). Output channels are the rows of products, eight rows of x their columns. Weights go
// from memory to registers, where they become elements of matrices; x goes through shared memory, 64 values of K at a
// time (a slab), because all subgroups side by side read it. The next ones of both are loaded meanwhile.
//
// FRAGMENTS    16 output channels each, of a subgroup: 1, 2 or 4
// ROW_EIGHTS   eight rows of x each, of a subgroup: 2, 4 or 8
// SUBGROUPS    of a workgroup
// EIGHTS       eights of values in 16 bytes of weights: 4 of int4, 2 of int8
// GATHERED     1: x is images of a convolution, half floats in whole units of 16 bytes
// MATRICES, FRAGMENT_M, ...: see common/placed_matrices.glslh; FRAGMENT_N is 8
// X_*, W_*, Y_*, SUMS, ...: see the included files
//
// A step is four units of 16 bytes of weights along K: one slab of int8 weights, or two of int4 weights. Invocation l
// of a subgroup, with g = l / 4 and t = l % 4, holds unit t of output channels g and g + 8 of each fragment, and
// multiplies the values of row g of x that meet them. The order of the values in a product is free, so that each
// product takes four neighbours of each t.

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/unroll.glslh"

layout(constant_id = 4) const uint pool_units = 1u;   // units of 16 bytes of shared memory
layout(constant_id = 5) const uint tile_m = 64u;      // rows of x of a workgroup
layout(constant_id = 6) const uint subgroups_n = 1u;  // subgroups side by side along N
layout(constant_id = 7) const uint x_loads = 1u;      // loads of an invocation for a slab

#include "linear/numbers.glslh"
#include "linear/tiles.glslh"
#include "linear/weights.glslh"
#include "linear/y.glslh"
#if GATHERED
#include "linear/x_gathered.glslh"
#else
#include "linear/x_real.glslh"
#endif

shared uvec4 pool[pool_units];
#include "common/placed_matrices.glslh"
#include "linear/halves.glslh"
#include "linear/placed_operands.glslh"

#define UNITS_OF_STEP 4u
#define VALUES_OF_STEP (UNITS_OF_STEP * 8u * EIGHTS)
#define SLABS_OF_STEP (EIGHTS / 2)
#define STAGES 2                         // slabs in shared memory, which alternate
#define CHUNKS 8u                        // units of 16 bytes of a row of a slab
#define UNITS_OF_SLAB (tile_m * CHUNKS)  // each is a load of an invocation, and all invocations have as many
#define HALVES_OF_FRAGMENTS (2 * FRAGMENTS)
#define QUADS (4u * FRAGMENTS)
#define ROWS_OF_SUBGROUP (8u * ROW_EIGHTS)
#define COLUMNS_OF_SUBGROUP (16u * FRAGMENTS)

uint units_of_row() { return push.blocks / 4u; }

// Rows and channels of a tile where this subgroup's begin.
uvec2 place_of_subgroup() {
  const uint number = subgroup_number();
  return uvec2(number / subgroups_n * ROWS_OF_SUBGROUP, number % subgroups_n * COLUMNS_OF_SUBGROUP);
}

// --- x ---------------------------------------------------------------------------------------------------------------
// A row of a slab has the two eights of each t that are multiplied next, those of all t side by side. In odd rows the
// eights change places, so that eight invocations that read at once read from different banks. Two slabs alternate.
uint place_of_chunk(uint row, uint chunk) { return row * CHUNKS + (chunk ^ ((row & 1u) * 4u)); }
uint stage_at(uint stage) { return stage * UNITS_OF_SLAB; }

uint first_of_load(uint number, uint slab) {
  const uint chunk = number % CHUNKS;
  const uint eight = chunk % 4u * EIGHTS + slab % SLABS_OF_STEP * 2u + chunk / 4u;
  return slab / SLABS_OF_STEP * VALUES_OF_STEP + eight * 8u;
}

uvec4 next_x[x_loads];
#if GATHERED
uint outside[x_loads];  // all bits where a tap lies outside of the image
Corner corners[x_loads];
#endif

// The rows of this invocation's loads are the same in every slab.
void find_rows(Tile tile) {
#if GATHERED
  FOR_EACH(i, x_loads) {
    corners[i] = corner_of(tile.first_slot + (gl_LocalInvocationID.x + i * gl_WorkGroupSize.x) / CHUNKS);
  }
#endif
}

void load_x(Tile tile, uint slab) {
  FOR_EACH(i, x_loads) {
    const uint number = gl_LocalInvocationID.x + i * gl_WorkGroupSize.x;
#if GATHERED
    uvec4 outside_words;  // all four alike, because X_WORDS is 4
    next_x[i] = gathered_four(corners[i], first_of_load(number, slab) / 2u, channel_group, outside_words);
    outside[i] = outside_words.x;
#else
    next_x[i] = x_halves(existing_row(tile.first_slot + number / CHUNKS), first_of_load(number, slab));
#endif
  }
}

void keep_x(uint slab, uint stage) {
  FOR_EACH(i, x_loads) {
    const uint number = gl_LocalInvocationID.x + i * gl_WorkGroupSize.x;
    uvec4 words = next_x[i];
#if GATHERED
    words &= ~outside[i];
#endif
    if (first_of_load(number, slab) >= push.depth) words = uvec4(0u);
    pool[stage_at(stage) + place_of_chunk(number / CHUNKS, number % CHUNKS)] = words;
  }
}

// --- weights ---------------------------------------------------------------------------------------------------------
// Channels and units that do not exist are the last ones: such channels are not stored, and x is 0 past its end.
struct Weights {
  uvec4 units[HALVES_OF_FRAGMENTS];
#if W_BITS == 4
  uint scales[HALVES_OF_FRAGMENTS];
#endif
};
// One is multiplied while the other is being loaded.
Weights weights[2];

void load_weights(uint first_channel, uint step, uint into) {
  const uint unit = min(step * UNITS_OF_STEP + of_four(), units_of_row() - 1u);
#if W_BITS == 4
  const uint group = divide(unit * 4u, push.by_group);
#endif
  [[unroll]] for (uint i = 0u; i < HALVES_OF_FRAGMENTS; ++i) {
    const uint channel = min(first_channel + 8u * i + of_group(), push.columns - 1u);
    weights[into].units[i] = w_unit(channel, unit, units_of_row());
#if W_BITS == 4
    weights[into].scales[i] = w_half_scale(group, channel, push.quads);
#endif
  }
}

// Words of halves that meet in a product: .xy in the first one, .zw in the last.
uvec4 weights_of(uint from, uint half_of_fragment, uint i) {
  const uvec4 unit = weights[from].units[half_of_fragment];
#if W_BITS == 4
  return scaled_nibbles(unit[i], weights[from].scales[half_of_fragment]);
#else
  return uvec4(halves_of_bytes(unit[2u * i]), halves_of_bytes(unit[2u * i + 1u]));
#endif
}

// --- products --------------------------------------------------------------------------------------------------------
SUM_MATRIX sums[FRAGMENTS * ROW_EIGHTS];
#define SUM(f, r) sums[(r)*FRAGMENTS + (f)]

#define SET_WEIGHTS(f)                                     \
  {                                                        \
    const uvec4 low = weights_of(from, 2u * (f), i);       \
    const uvec4 high = weights_of(from, 2u * (f) + 1u, i); \
    SET_A(first_weights[f], low.xy, high.xy)               \
    SET_A(last_weights[f], low.zw, high.zw)                \
  }
#define ADD_FRAGMENT(f, r)                                   \
  {                                                          \
    MULTIPLY_ADD(first_weights[f], first_values, SUM(f, r)); \
    MULTIPLY_ADD(last_weights[f], last_values, SUM(f, r));   \
  }
#define ADD_ROWS(r)                                                                \
  {                                                                                \
    const uint chunk = 4u * (i % 2u) + of_four();                                  \
    const uvec4 eight = pool[x_at + place_of_chunk(8u * (r) + of_group(), chunk)]; \
    B_MATRIX first_values, last_values;                                            \
    SET_B(first_values, eight.xy)                                                  \
    SET_B(last_values, eight.zw)                                                   \
    EACH_INNER_PRODUCT(FRAGMENTS, ADD_FRAGMENT, r)                                 \
  }

// The eights `i` of weights `from`, by those of x in a slab at pool[x_at].
void add_eight(uint x_at, uint from, uint i) {
  A_MATRIX first_weights[FRAGMENTS], last_weights[FRAGMENTS];
  EACH(FRAGMENTS, SET_WEIGHTS)
  EACH_PRODUCT(ROW_EIGHTS, ADD_ROWS)
}

// `first`: of the two eights that meet this slab.
#define ADD_EIGHT(i, first) add_eight(x_at, from, (first) + (i));
void add_slab(uint stage, uint from, uint first) {
  const uint x_at = stage_at(stage) + place_of_subgroup().x * CHUNKS;
  EACH_INNER_PRODUCT(2, ADD_EIGHT, first)
}

// --- y ---------------------------------------------------------------------------------------------------------------
// Eight rows of a subgroup at a time go through shared memory; they are a quad apart, so that they lie in different
// banks.
#define PITCH (QUADS + 1u)
#define KEEP_ELEMENT(e, f, r)                                                           \
  {                                                                                     \
    const uint channel = 16u * (f) + row_of_lane() + 8u * HIGH_ROW(e);                  \
    const uint row_at = at + (column_of_lane() + COLUMN(e)) * PITCH;                    \
    pool[row_at + channel / 4u][channel % 4u] = floatBitsToUint(ELEMENT(SUM(f, r), e)); \
  }
#define KEEP_FRAGMENT(f, r) EACH_INNERMOST(4, KEEP_ELEMENT, f, r)
#define STORE_ROWS(r)                                               \
  {                                                                 \
    EACH_INNER(FRAGMENTS, KEEP_FRAGMENT, r)                         \
    wait_for_subgroup();                                            \
    store_rows(tile.first_slot + place.x + 8u * (r), at, channels); \
    wait_for_subgroup();                                            \
  }

void store_rows(uint first_slot, uint at, Channels channels) {
  for (uint row = lane_of_subgroup() / QUADS; row < 8u; row += 32u / QUADS) {
    const uint slot = first_slot + row;
    store(uintBitsToFloat(pool[at + row * PITCH + lane_of_subgroup() % QUADS]), channels, row_of(slot), slot);
  }
}

void store_sums(Tile tile) {
  const uvec2 place = place_of_subgroup();
  const uint at = subgroup_number() * (8u * PITCH);
  const Channels channels = channels_of(tile.first_quad + place.y / 4u + lane_of_subgroup() % QUADS);
  barrier();  // the last slab has been read
  EACH_PRODUCT(ROW_EIGHTS, STORE_ROWS)
}

// --- slabs -----------------------------------------------------------------------------------------------------------
#define CLEAR_FRAGMENT(f, r) CLEAR_SUMS(SUM(f, r));
#define CLEAR_ROWS(r) EACH_INNER(FRAGMENTS, CLEAR_FRAGMENT, r)

// The slab in a stage: weights that it multiplies, those that are loaded meanwhile, and the first of its eights.
#if SLABS_OF_STEP == 2
#define FROM(stage) 0u
#define INTO(stage) 1u
#define FIRST_EIGHT(stage) (2u * (stage))
#else
#define FROM(stage) (stage)
#define INTO(stage) (1u - (stage))
#define FIRST_EIGHT(stage) 0u
#endif

// The loads are before the barrier, so that no compiler moves them to where they are needed.
#define ADD_STAGE(stage)                                                                                            \
  if ((stage) == 0u || SLABS_OF_STEP == 2 || slab < end_slab) {                                                     \
    keep_x(slab, stage);                                                                                            \
    if (slab + 1u < end_slab) {                                                                                     \
      load_x(tile, slab + 1u);                                                                                      \
      if ((stage) == 0u || SLABS_OF_STEP == 1) load_weights(first_channel, slab / SLABS_OF_STEP + 1u, INTO(stage)); \
    }                                                                                                               \
    barrier();                                                                                                      \
    add_slab(stage, FROM(stage), FIRST_EIGHT(stage));                                                               \
    ++slab;                                                                                                         \
  }

void main() {
  push = numbers();
  const Tile tile = tile_of(flat_workgroup(), tile_m, COLUMNS_OF_SUBGROUP * subgroups_n);
  const uint first_channel = tile.first_quad * 4u + place_of_subgroup().y;
  EACH_PRODUCT(ROW_EIGHTS, CLEAR_ROWS)
  const uint end_slab = (units_of_row() + UNITS_OF_STEP - 1u) / UNITS_OF_STEP * SLABS_OF_STEP;
  find_rows(tile);
  load_x(tile, 0u);
  load_weights(first_channel, 0u, 0u);
  uint slab = 0u;
  while (slab < end_slab) {
    EACH_PRODUCT(STAGES, ADD_STAGE)
#if SLABS_OF_STEP == 2
    weights[0] = weights[1];
#endif
  }
  store_sums(tile);
}
