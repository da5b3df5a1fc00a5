#version 450
#extension GL_GOOGLE_include_directive : require

// y = x * transpose(w) for many rows, by cooperative matrices of half floats or int8 whose elements' places are known
// (common/placed_matrices.glslh). Output channels are the rows of products, eight rows of x their columns. Weights go
// from memory to registers, where they become elements of matrices; x goes through shared memory, 64 halves or 128
// bytes along K at a time (a slab), because all subgroups side by side read it. The next ones of both are loaded
// meanwhile.
//
// REAL         1: half floats and float sums; 0: int8 and int32. Int8 sums of a group of int4 weights are scaled where
//              it ends, with a slab; with half floats the weights are scaled before the product
// FRAGMENTS    16 output channels each, of a subgroup: 1, 2 or 4
// ROW_EIGHTS   eight rows of x each, of a subgroup: 2, 4 or 8
// SUBGROUPS    of a workgroup
// ROUNDS       16 bytes of x that meet 16 bytes of weights: half floats and int4 4, and int8 2; int8 and int4 2, and
//              int8 1
// GATHERED     1: x is images of a convolution, half floats in whole units of 16 bytes
// MATRICES, FRAGMENT_M, ...: see common/placed_matrices.glslh; FRAGMENT_N is 8
// X_*, W_*, Y_*, SUMS, ...: see the included files
//
// A slab is two rounds, in each of which invocation l of a subgroup, with g = l / 4 and t = l % 4, multiplies 16 bytes
// of row g of x by weights of output channels g and g + 8 of each fragment: two products. For that it holds unit t, 16
// bytes, of four of each channel, or of eight two (a step): for one slab, or for two where there are four rounds to a
// unit. The order of the values in a product is free, so that each product takes neighbours of each t.

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/unroll.glslh"

layout(constant_id = 4) const uint pool_units = 1u;   // units of 16 bytes of shared memory
layout(constant_id = 5) const uint tile_m = 64u;      // rows of x of a workgroup
layout(constant_id = 6) const uint subgroups_n = 1u;  // subgroups side by side along N
layout(constant_id = 7) const uint x_loads = 1u;      // loads of an invocation for a slab

#define SCALES_GROUPS (W_BITS == 4 && !REAL)  // sums of groups are scaled
#define SCALES_WEIGHTS (W_BITS == 4 && REAL)

#define BY_CHANNEL SCALES_GROUPS
#include "linear/numbers.glslh"
#include "linear/tiles.glslh"
#include "linear/weights.glslh"
#if REAL
#if GATHERED
#include "linear/x_gathered.glslh"
#else
#include "linear/x_real.glslh"
#endif
#define VALUES_OF_CHUNK 8u
#else
#include "linear/x_int8.glslh"
#define VALUES_OF_CHUNK 16u
#endif
#include "linear/y.glslh"

shared uvec4 pool[pool_units];
#define MATRICES_REAL REAL
#include "common/placed_matrices.glslh"
#include "linear/halves.glslh"
#include "linear/placed_operands.glslh"

#if ROUNDS == 1
#define LOADS_OF_STEP 2  // units of each t
#else
#define LOADS_OF_STEP 1
#endif
#define UNITS_OF_STEP (4u * LOADS_OF_STEP)
#define VALUES_OF_STEP (UNITS_OF_STEP * ROUNDS * VALUES_OF_CHUNK)
#if ROUNDS == 4
#define SLABS_OF_STEP 2
#else
#define SLABS_OF_STEP 1
#endif
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
// A row of a slab has what each t multiplies in two rounds, those of all t side by side. In odd rows the rounds change
// places, so that eight invocations that read at once read from different banks. Two slabs alternate.
uint place_of_chunk(uint row, uint chunk) { return row * CHUNKS + (chunk ^ ((row & 1u) * 4u)); }
uint stage_at(uint stage) { return stage * UNITS_OF_SLAB; }

uint first_of_load(uint number, uint slab) {
  const uint chunk = number % CHUNKS;
#if ROUNDS == 1
  return slab * VALUES_OF_STEP + chunk * VALUES_OF_CHUNK;
#else
  const uint of_step = chunk % 4u * ROUNDS + slab % SLABS_OF_STEP * 2u + chunk / 4u;
  return slab / SLABS_OF_STEP * VALUES_OF_STEP + of_step * VALUES_OF_CHUNK;
#endif
}

uvec4 next_x[x_loads];
#if GATHERED
uint outside[x_loads];  // all bits where a tap lies outside of the image
Corner corners[x_loads];
#endif

// The rows of this invocation's loads, which are the same for every slab.
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
    uvec4 zeros;
    next_x[i] = gathered_four(corners[i], first_of_load(number, slab) / 2u, channel_group, zeros);
    outside[i] = zeros.x;
#elif REAL
    next_x[i] = x_halves(existing_row(tile.first_slot + number / CHUNKS), first_of_load(number, slab));
#else
    next_x[i] = x_four(existing_row(tile.first_slot + number / CHUNKS), first_of_load(number, slab) / 4u);
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
  uvec4 units[LOADS_OF_STEP * HALVES_OF_FRAGMENTS];
#if SCALES_WEIGHTS
  uint scales[HALVES_OF_FRAGMENTS];
#elif SCALES_GROUPS
  float scales[HALVES_OF_FRAGMENTS];
  int sums[HALVES_OF_FRAGMENTS];  // of a group's weights
#ifdef W_ZERO_AT
  uint zeros[HALVES_OF_FRAGMENTS];
#endif
#endif
};
// One is multiplied while the other is being loaded.
Weights weights[2];

void load_weights(uint first_channel, uint step, uint into) {
  const uint unit = step * UNITS_OF_STEP + of_four();
#if W_BITS == 4
  const uint group = divide(min(unit, units_of_row() - 1u) * 4u, push.by_group);
#endif
  [[unroll]] for (uint i = 0u; i < HALVES_OF_FRAGMENTS; ++i) {
    const uint channel = min(first_channel + 8u * i + of_group(), push.columns - 1u);
    [[unroll]] for (uint l = 0u; l < LOADS_OF_STEP; ++l) {
      weights[into].units[l * HALVES_OF_FRAGMENTS + i] =
          w_unit(channel, min(unit + 4u * l, units_of_row() - 1u), units_of_row());
    }
#if SCALES_WEIGHTS
    weights[into].scales[i] = w_half_scale(group, channel, push.quads);
#elif SCALES_GROUPS
    weights[into].scales[i] = w_scale(group, channel, push.quads);
    weights[into].sums[i] = w_sums(group, channel / 4u, push.quads)[channel % 4u];
#ifdef W_ZERO_AT
    weights[into].zeros[i] = uint(8 + w_zero_point(group, channel, push.quads));
#endif
#endif
  }
}

// Words that meet in a product in round i of a step: .xy in the first one, .zw in the last.
#ifdef W_ZERO_AT
#define STORED_ZERO(from, i) weights[from].zeros[i]
#else
#define STORED_ZERO(from, i) 8u
#endif
uvec4 weights_of(uint from, uint half_of_fragment, uint i) {
#if ROUNDS == 1
  return weights[from].units[i * HALVES_OF_FRAGMENTS + half_of_fragment];
#else
  const uvec4 unit = weights[from].units[half_of_fragment];
#if SCALES_WEIGHTS
  return scaled_nibbles(unit[i], weights[from].scales[half_of_fragment]);
#elif REAL
  return uvec4(halves_of_bytes(unit[2u * i]), halves_of_bytes(unit[2u * i + 1u]));
#else
  return bytes_of_nibbles(uvec2(unit[2u * i], unit[2u * i + 1u]), STORED_ZERO(from, half_of_fragment));
#endif
#endif
}

// --- products --------------------------------------------------------------------------------------------------------
SUM_MATRIX sums[FRAGMENTS * ROW_EIGHTS];
#define SUM(f, r) sums[(r)*FRAGMENTS + (f)]
#if SCALES_GROUPS
vec4 totals[FRAGMENTS * ROW_EIGHTS];
#define TOTAL(f, r) totals[(r)*FRAGMENTS + (f)]
// Zero points of the rows of x: those of this invocation's two columns of each eight.
vec2 row_zero_points[ROW_EIGHTS];

// Exact: both are integers below 2^24, which the host ensures.
#define END_ELEMENT(e, f, r)                                                                  \
  TOTAL(f, r)                                                                                 \
  [e] += (float(ELEMENT(SUM(f, r), e)) -                                                      \
          row_zero_points[r][COLUMN(e)] * float(weights[from].sums[2 * (f) + HIGH_ROW(e)])) * \
         weights[from].scales[2 * (f) + HIGH_ROW(e)];
#define END_FRAGMENT(f, r)             \
  EACH_INNERMOST(4, END_ELEMENT, f, r) \
  CLEAR_SUMS(SUM(f, r));
#define END_ROWS(r) EACH_INNER(FRAGMENTS, END_FRAGMENT, r)

// Adds the sums of a group, minus x's zero points, times its scales, and begins the next group.
void end_group(uint from) { EACH(ROW_EIGHTS, END_ROWS); }
#define FINAL_SUM(f, r, e) TOTAL(f, r)[e]
#else
#define FINAL_SUM(f, r, e) ELEMENT(SUM(f, r), e)
#endif
#if REAL || SCALES_GROUPS
#define BITS_OF(sum) floatBitsToUint(sum)
SUMS_VEC4 staged_sums(uint at) { return uintBitsToFloat(pool[at]); }
#else
#define BITS_OF(sum) uint(sum)
SUMS_VEC4 staged_sums(uint at) { return ivec4(pool[at]); }
#endif

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

// Round i of weights `from`, by 16 bytes of x in a slab at pool[x_at].
void add_round(uint x_at, uint from, uint i) {
  A_MATRIX first_weights[FRAGMENTS], last_weights[FRAGMENTS];
  EACH(FRAGMENTS, SET_WEIGHTS)
  EACH_PRODUCT(ROW_EIGHTS, ADD_ROWS)
}

// `first`: of the two rounds that meet this slab.
#define ADD_ROUND(i, first) add_round(x_at, from, (first) + (i));
void add_slab(uint stage, uint from, uint first) {
  const uint x_at = stage_at(stage) + place_of_subgroup().x * CHUNKS;
  EACH_INNER_PRODUCT(2, ADD_ROUND, first)
}

// --- y ---------------------------------------------------------------------------------------------------------------
// Eight rows of a subgroup at a time go through shared memory; they are a quad apart, so that they lie in different
// banks.
#define PITCH (QUADS + 1u)
#define KEEP_ELEMENT(e, f, r)                                                \
  {                                                                          \
    const uint channel = 16u * (f) + row_of_lane() + 8u * HIGH_ROW(e);       \
    const uint row_at = at + (column_of_lane() + COLUMN(e)) * PITCH;         \
    pool[row_at + channel / 4u][channel % 4u] = BITS_OF(FINAL_SUM(f, r, e)); \
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
    store(staged_sums(at + row * PITCH + lane_of_subgroup() % QUADS), channels, row_of(slot), slot);
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

// The slab in a stage: weights that it multiplies, those that are loaded meanwhile, and the first of its rounds.
#if SLABS_OF_STEP == 2
#define FROM(stage) 0u
#define INTO(stage) 1u
#define FIRST_ROUND(stage) (2u * (stage))
#else
#define FROM(stage) (stage)
#define INTO(stage) (1u - (stage))
#define FIRST_ROUND(stage) 0u
#endif

#if SCALES_GROUPS
layout(constant_id = 8) const uint slabs_of_group = 1u;
#define END_OF_SLAB(stage) \
  if (ends_group(slab)) end_group(FROM(stage));
// A step lies in one group, and a slab is a step.
bool ends_group(uint slab) { return (slab + 1u) % slabs_of_group == 0u; }

#define FIND_ZERO_POINT(c, r)                                                  \
  {                                                                            \
    const Row row = row_of(first_slot + 8u * (r) + column_of_lane() + (c));    \
    row_zero_points[r][c] = row.exists ? float(x_zero_point(row.index)) : 0.0; \
  }
#define CLEAR_TOTAL(f, r) TOTAL(f, r) = vec4(0.0);
#define BEGIN_ROWS(r)               \
  EACH_INNER(2, FIND_ZERO_POINT, r) \
  EACH_INNER(FRAGMENTS, CLEAR_TOTAL, r)
void begin_totals(uint first_slot) { EACH(ROW_EIGHTS, BEGIN_ROWS) }
#else
#define END_OF_SLAB(stage)
void begin_totals(uint first_slot) {}
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
    add_slab(stage, FROM(stage), FIRST_ROUND(stage));                                                               \
    END_OF_SLAB(stage)                                                                                              \
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
  begin_totals(tile.first_slot + place_of_subgroup().x);
  uint slab = 0u;
  while (slab < end_slab) {
    EACH_PRODUCT(STAGES, ADD_STAGE)
#if SLABS_OF_STEP == 2
    weights[0] = weights[1];
#endif
  }
  store_sums(tile);
}
