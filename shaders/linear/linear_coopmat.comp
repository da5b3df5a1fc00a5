#version 450
#extension GL_GOOGLE_include_directive : require

// y = x * transpose(w) by cooperative matrices (common/matrices.glslh). A workgroup computes a tile of `tile_m` rows by
// `tile_n` output channels; a subgroup computes FRAGMENTS_M by FRAGMENTS_N fragments of it, or a part of their sums. K
// is processed in slabs: a slab of x and of w lies in shared memory in rows of `chunks` units of 16 bytes, while the
// next one is being loaded into registers. Int4 weights are unpacked on the way; a slab of them is whole groups, or a
// part of one, padded with zeros to whole fragments. Int8 sums of a group are scaled where it ends; with half floats
// the weights are scaled before the product.
//
// REAL         1: half floats and float sums; 0: int8 and int32
// FRAGMENTS_M, FRAGMENTS_N  fragments of a subgroup: 1, 2, 4 or 8
// SUMS_OF_SUBGROUP  FRAGMENTS_M * FRAGMENTS_N
// STAGED       fragments side by side that go through shared memory at once on their way to y: 1, 2 or 4
// COLUMNS_OF_STAGED  FRAGMENTS_N / STAGED
// FILLED_UP    1: slabs are padded with zeros to whole fragments
// STAGES       slabs in shared memory: 1, or 2 that alternate
// GATHERED     1: x is the images of a convolution
// PIXELS_FIRST GATHERED: invocations side by side load pixels side by side; else words along K
// SPLITS       1: `splits` workgroups share K and store their sums for linear_join.comp
// X_*, W_*, Y_*, SUMS, MATRICES, ...: see the included files

#define SCALES_GROUPS (W_BITS == 4 && !REAL)  // sums of groups are scaled
#define SCALES_WEIGHTS (W_BITS == 4 && REAL)

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/unroll.glslh"

layout(constant_id = 4) const uint tile_m = 64u;
layout(constant_id = 5) const uint tile_n = 64u;
layout(constant_id = 6) const uint chunks = 4u;       // units of a row of a slab
layout(constant_id = 7) const uint slab_depth = 64u;  // values along K from one slab to the next
layout(constant_id = 8) const uint x_loads = 1u;      // loads of an invocation for a slab
layout(constant_id = 9) const uint w_loads = 1u;
layout(constant_id = 10) const uint subgroups_n = 1u;     // subgroups side by side along N
layout(constant_id = 11) const uint subgroup_lanes = 1u;  // invocations of a subgroup
layout(constant_id = 12) const uint pool_units = 1u;      // units of 16 bytes of shared memory
layout(constant_id = 19) const uint subgroups_k =
    1u;  // subgroups that share K: each takes every subgroups_k-th part of a slab
#if SPLITS
layout(constant_id = 13) const uint splits = 1u;
layout(constant_id = 14) const uint split_slabs = 1u;  // slabs of a workgroup
#endif
#if W_BITS == 4
layout(constant_id = 16) const uint groups_of_slab = 1u;  // whole groups; 1 if a slab is part of a group
layout(constant_id = 17) const uint slabs_of_group = 1u;  // slabs per group; 1 if a slab is whole groups
#endif
#if SCALES_GROUPS
layout(constant_id = 15) const uint table_loads = 1u;  // loads of an invocation for a slab
layout(constant_id = 18) const uint part_steps = 1u;   // fragments along K of a group in a slab
#endif

#include "linear/numbers.glslh"
#include "linear/tiles.glslh"
#include "linear/weights.glslh"
#include "linear/y.glslh"
#if REAL
#include "linear/x_real.glslh"
#define VALUES_OF_CHUNK 8u
#else
#if GATHERED
#include "linear/x_gathered.glslh"
#else
#include "linear/x_int8.glslh"
#endif
#define VALUES_OF_CHUNK 16u
#endif

shared uvec4 pool[pool_units];
#define MATRICES_REAL REAL
#include "common/matrices.glslh"
#include "linear/halves.glslh"

// Rows of shared memory are one unit longer than a slab, so that eight of them lie in different banks.
const uint pitch = chunks + 1u;
const uint x_units = tile_m * pitch;
const uint w_units = tile_n * pitch;
#if SCALES_GROUPS
const uint table_units = groups_of_slab * (tile_n / 4u);
const uint stage_units = x_units + w_units + 2u * table_units;
const uint zero_points_at = STAGES * stage_units;  // zero points of the rows of x, as floats
#else
const uint stage_units = x_units + w_units;
#endif

#if STAGES == 2
uint stage_of(uint slab) { return (slab & 1u) * stage_units; }
#else
uint stage_of(uint slab) { return 0u; }
#endif

#if W_BITS == 4
uint first_group(uint slab) { return slab / slabs_of_group * groups_of_slab; }
#endif

// Loads neither branch nor compute with their results: a kernel would wait for each. Values that must be 0 become 0 on
// the way to shared memory.

// --- a slab of x -----------------------------------------------------------------------------------------------------
#if GATHERED
// A load is a unit of a row, whose corner the invocation knows. No op with groups along K has such an x.
#define X_LOADS (tile_m * chunks)
#if PIXELS_FIRST
uint row_of_load(uint number) { return number % tile_m; }
uint chunk_of_load(uint number) { return number / tile_m; }
#else
uint row_of_load(uint number) { return number / chunks; }
uint chunk_of_load(uint number) { return number % chunks; }
#endif

void keep_x(uint slab, uint number, uvec4 words) {
  pool[stage_of(slab) + row_of_load(number) * pitch + chunk_of_load(number)] = words;
}
#elif !REAL && X_LAYOUT == X_BLOCKS
// A load is a word of each of four slots. No op with groups has such an x: slabs are not padded.
#define WORDS_OF_ROW (chunks * 4u)
#define X_LOADS (tile_m / 4u * WORDS_OF_ROW)
uvec4 load_x(Tile tile, uint number, uint slab) {
  return x_block(tile.first_slot / 4u + number / WORDS_OF_ROW, slab * (slab_depth / 4u) + number % WORDS_OF_ROW);
}
void keep_x(uint slab, uint number, uvec4 words) {
  const uint word = number % WORDS_OF_ROW;
  const uint at = stage_of(slab) + number / WORDS_OF_ROW * 4u * pitch + word / 4u;
  FOR_EACH(i, 4u) pool[at + i * pitch][word % 4u] = words[i];
}
#else
// A load is a unit of a row.
#define X_LOADS (tile_m * chunks)
uint first_of_load(uint number, uint slab) { return slab * slab_depth + number % chunks * VALUES_OF_CHUNK; }

uvec4 load_x(Tile tile, uint number, uint slab) {
  const Row row = existing_row(tile.first_slot + number / chunks);
#if REAL
  return x_halves(row, first_of_load(number, slab));
#else
  return x_four(row, first_of_load(number, slab) / 4u);
#endif
}

void keep_x(uint slab, uint number, uvec4 words) {
#if FILLED_UP
  // Slabs are multiples of 8 values.
  const uint place = number % chunks * VALUES_OF_CHUNK;
  if (place >= slab_depth) words = uvec4(0u);
  if (place + 8u >= slab_depth && VALUES_OF_CHUNK > 8u) words.zw = uvec2(0u);
#endif
#if REAL
  // Its weights are 0, but it might be infinite.
  if (first_of_load(number, slab) >= push.depth) words = uvec4(0u);
#endif
  pool[stage_of(slab) + number / chunks * pitch + number % chunks] = words;
}
#endif

// --- a slab of w -----------------------------------------------------------------------------------------------------
// A load is a unit of a row: int4 values become two units of int8 or four of halves, int8 values two of halves.
#define CHUNKS_OF_UNIT ((1 + REAL) * 8 / W_BITS)
#define UNITS_OF_ROW (chunks / CHUNKS_OF_UNIT)
#define W_LOADS (tile_n * UNITS_OF_ROW)

// Packed weights are whole slabs. Values past the last channel are not stored.
uint channel_of_load(Tile tile, uint number) {
  return min(tile.first_quad * 4u + number / UNITS_OF_ROW, push.columns - 1u);
}

uvec4 load_w(Tile tile, uint number, uint slab) {
  return w_unit(channel_of_load(tile, number), slab * UNITS_OF_ROW + number % UNITS_OF_ROW, push.blocks / 4u);
}

#if W_BITS == 4
// No unit belongs to two groups. Values past the last group are all 0.
uint group_of_load(uint number, uint slab) {
  const uint group_of_slab = number % UNITS_OF_ROW * CHUNKS_OF_UNIT / (chunks / groups_of_slab);
  return min(first_group(slab) + group_of_slab, push.groups - 1u);
}
#endif

#ifdef W_ZERO_AT
ivec4 load_w_zero_points(Tile tile, uint number, uint slab) {
  return w_zero_point(group_of_load(number, slab), channel_of_load(tile, number) / 4u, push.quads);
}
#endif

#if SCALES_WEIGHTS
uint load_w_scale(Tile tile, uint number, uint slab) {
  return w_half_scale(group_of_load(number, slab), channel_of_load(tile, number), push.quads);
}
#endif

// `of_group`: for int8 products the difference between a stored nibble and its value, for half floats the scale of int4
// values.
#if SCALES_WEIGHTS
uvec4 chunk_of(uvec4 unit, uint i, uint of_group) { return scaled_nibbles(unit[i], of_group); }
#elif REAL
uvec4 chunk_of(uvec4 unit, uint i, uint of_group) {
  return uvec4(halves_of_bytes(unit[2u * i]), halves_of_bytes(unit[2u * i + 1u]));
}
#elif W_BITS == 4
uvec4 chunk_of(uvec4 unit, uint i, uint of_group) {
  const uvec2 words = uvec2(unit[2u * i], unit[2u * i + 1u]);
  const uvec2 first = signed_nibbles(words & 0x0f0f0f0fu, of_group);
  const uvec2 last = signed_nibbles((words >> 4) & 0x0f0f0f0fu, of_group);
  return uvec4(first.x, last.x, first.y, last.y);
}
#else
uvec4 chunk_of(uvec4 unit, uint i, uint of_group) { return unit; }
#endif

void keep_w(uint slab, uint number, uvec4 unit, uint of_group) {
  const uint at = stage_of(slab) + x_units + number / UNITS_OF_ROW * pitch + number % UNITS_OF_ROW * CHUNKS_OF_UNIT;
  UNROLLED for (uint i = 0u; i < CHUNKS_OF_UNIT; ++i) pool[at + i] = chunk_of(unit, i, of_group);
}

// --- groups ----------------------------------------------------------------------------------------------------------
#if SCALES_GROUPS
// The last slab may have room for more groups than exist.
uint group_of_table(uint number, uint slab) { return first_group(slab) + number / (tile_n / 4u); }
uint existing_group(uint number, uint slab) { return min(group_of_table(number, slab), push.groups - 1u); }
uint existing_quad_of_table(Tile tile, uint number) {
  return min(tile.first_quad + number % (tile_n / 4u), push.quads - 1u);
}

vec4 load_scales(Tile tile, uint number, uint slab) {
  return w_scale(existing_group(number, slab), existing_quad_of_table(tile, number), push.quads);
}

// `first`: where the table begins in a stage.
void keep_table(uint first, uint slab, uint number, vec4 values) {
  const bool is_there = group_of_table(number, slab) < push.groups;
  pool[stage_of(slab) + first + number] = is_there ? floatBitsToUint(values) : uvec4(0u);
}

ivec4 load_column_sums(Tile tile, uint number, uint slab) {
  return w_sums(existing_group(number, slab), existing_quad_of_table(tile, number), push.quads);
}

void keep_zero_points(Tile tile, uint lane) {
  for (uint i = lane; i < tile_m / 4u; i += gl_WorkGroupSize.x) {
    vec4 zero_points = vec4(0.0);
    for (uint k = 0u; k < 4u; ++k) {
      const Row row = row_of(tile.first_slot + i * 4u + k);
      if (row.exists) zero_points[k] = float(x_zero_point(row.index));
    }
    pool[zero_points_at + i] = floatBitsToUint(zero_points);
  }
}
#endif

// --- products --------------------------------------------------------------------------------------------------------
#include "linear/coopmat_sums.glslh"

#if SCALES_GROUPS
REAL_MATRIX totals[FRAGMENTS_M * FRAGMENTS_N];
REAL_MATRIX zero_points[FRAGMENTS_M];
#define FINAL_SUMS totals
#else
#define FINAL_SUMS sums
#endif

#if SCALES_GROUPS
// Exact: both are integers below 2^24, which the host ensures.
#define PART_OF_TOTAL(i, j, e) (ELEMENT(reals, e) - ELEMENT(zero_points[i], e) * ELEMENT(column_sums, e))
#define END_ELEMENT(e, i, j) ELEMENT(totals[(i)*FRAGMENTS_N + j], e) += PART_OF_TOTAL(i, j, e) * ELEMENT(scales, e);
#define END_FRAGMENT(i, j)                          \
  {                                                 \
    REAL_MATRIX reals;                              \
    REAL_OF_SUMS(reals, sums[(i)*FRAGMENTS_N + j]); \
    EACH_ELEMENT(END_ELEMENT, i, j)                 \
    CLEAR_SUMS(sums[(i)*FRAGMENTS_N + j]);          \
  }
#define END_COLUMN(j)                                                               \
  {                                                                                 \
    REAL_MATRIX scales;                                                             \
    LOAD_PER_COLUMN(scales, tables_at + (j) * (FRAGMENT_N / 4));                    \
    REAL_MATRIX column_sums;                                                        \
    LOAD_PER_COLUMN(column_sums, tables_at + table_units + (j) * (FRAGMENT_N / 4)); \
    EACH_INNER(FRAGMENTS_M, END_FRAGMENT, j)                                        \
  }

// Adds the sums of a group, minus x's zero points, times its scales, and begins the next group.
void end_group(uint stage, uint group_of_slab) {
  const uint tables_at = stage + x_units + w_units + group_of_slab * (tile_n / 4u) + place_of_subgroup().y / 4u;
  EACH(FRAGMENTS_N, END_COLUMN)
}

void add_slab(uint slab) {
  const uint stage = stage_of(slab);
  FOR_EACH(i, groups_of_slab / subgroups_k) {
    const uint group = i * subgroups_k + part_of_subgroup();
    FOR_EACH(step, part_steps) add_step(stage, group * part_steps + step);
    if ((slab + 1u) % slabs_of_group == 0u) end_group(stage, group);
  }
}
#else
#if REAL
#define FOR_STEPS UNROLLED
#else
#define FOR_STEPS [[dont_unroll]]  // unrolled, fragments of several steps would take registers at once
#endif
void add_slab(uint slab) {
  FOR_STEPS for (uint step = 0u; step < steps_of_slab / subgroups_k; ++step)
      add_step(stage_of(slab), step * subgroups_k + part_of_subgroup());
}
#endif

#include "linear/coopmat_y.glslh"

// --- slabs -----------------------------------------------------------------------------------------------------------
uvec4 next_x[x_loads];
uvec4 next_w[w_loads];
#if GATHERED
uvec4 outside[x_loads];
Corner corners[x_loads];
void find_corners(Tile tile, uint lane) {
  FOR_EACH(i, x_loads) corners[i] = corner_of(tile.first_slot + row_of_load(lane + i * gl_WorkGroupSize.x));
}
#define LOAD_X(tile, i, number, slab) \
  gathered_four(corners[i], ((slab)*chunks + chunk_of_load(number)) * 4u, channel_group, outside[i])
#define LOADED_X(i) with_zeros(next_x[i], outside[i])
#else
#define LOAD_X(tile, i, number, slab) load_x(tile, number, slab)
#define LOADED_X(i) next_x[i]
#endif
#ifdef W_ZERO_AT
ivec4 next_w_zero_points[w_loads];
#endif
#if SCALES_WEIGHTS
uint next_w_scales[w_loads];
#endif
#if SCALES_GROUPS
vec4 next_scales[table_loads];
ivec4 next_column_sums[table_loads];
#endif

void load_slab(Tile tile, uint lane, uint slab) {
  FOR_EACH(i, x_loads) next_x[i] = LOAD_X(tile, i, lane + i * gl_WorkGroupSize.x, slab);
  FOR_EACH(i, w_loads) next_w[i] = load_w(tile, lane + i * gl_WorkGroupSize.x, slab);
#ifdef W_ZERO_AT
  FOR_EACH(i, w_loads) next_w_zero_points[i] = load_w_zero_points(tile, lane + i * gl_WorkGroupSize.x, slab);
#endif
#if SCALES_WEIGHTS
  FOR_EACH(i, w_loads) next_w_scales[i] = load_w_scale(tile, lane + i * gl_WorkGroupSize.x, slab);
#endif
#if SCALES_GROUPS
  FOR_EACH(i, table_loads) {
    next_scales[i] = load_scales(tile, lane + i * gl_WorkGroupSize.x, slab);
    next_column_sums[i] = load_column_sums(tile, lane + i * gl_WorkGroupSize.x, slab);
  }
#endif
}

// The `of_group` that chunk_of() needs for load `number` of w, which is this invocation's load i.
uint of_group_of(uint i, uint number) {
#if SCALES_WEIGHTS
  return next_w_scales[i];
#elif defined(W_ZERO_AT)
  return uint(8 + next_w_zero_points[i][number / UNITS_OF_ROW % 4u]);
#else
  return 8u;
#endif
}

void keep_slab(uint lane, uint slab) {
  FOR_EACH(i, x_loads) {
    const uint load = lane + i * gl_WorkGroupSize.x;
    if (X_LOADS % gl_WorkGroupSize.x == 0u || load < X_LOADS) keep_x(slab, load, LOADED_X(i));
  }
  FOR_EACH(i, w_loads) {
    const uint load = lane + i * gl_WorkGroupSize.x;
    if (W_LOADS % gl_WorkGroupSize.x == 0u || load < W_LOADS) keep_w(slab, load, next_w[i], of_group_of(i, load));
  }
#if SCALES_GROUPS
  FOR_EACH(i, table_loads) {
    const uint load = lane + i * gl_WorkGroupSize.x;
    if (load < table_units) {
      keep_table(x_units + w_units, slab, load, next_scales[i]);
      keep_table(x_units + w_units + table_units, slab, load, vec4(next_column_sums[i]));
    }
  }
#endif
}

// Puts the slab that was loaded last into shared memory.
void begin_slab(uint lane, uint slab) {
  barrier();  // the slab before has been read
  keep_slab(lane, slab);
  barrier();
}

#define CLEAR_SUM(i) CLEAR_SUMS(sums[i]);
#define CLEAR_TOTAL(i) CLEAR_REALS(totals[i]);
#define LOAD_ZERO_POINTS(i) LOAD_PER_ROW(zero_points[i], zero_points_at + (place.x + (i)*FRAGMENT_M) / 4u);

void main() {
  push = numbers();
  const uint lane = gl_LocalInvocationID.x;
  uint number = flat_workgroup();
  uint split = 0u;
  uint first_slab = 0u;
  uint end_slab = push.blocks / (4u * UNITS_OF_ROW);
#if SPLITS
  split = number % splits;
  number /= splits;
  first_slab = split * split_slabs;
  end_slab = min(end_slab, first_slab + split_slabs);
#endif
  const Tile tile = tile_of(number, tile_m, tile_n);
#if GATHERED
  find_corners(tile, lane);
#endif
  EACH(SUMS_OF_SUBGROUP, CLEAR_SUM)
#if SCALES_GROUPS
  EACH(SUMS_OF_SUBGROUP, CLEAR_TOTAL)
  const uvec2 place = place_of_subgroup();
  keep_zero_points(tile, lane);
  barrier();
  EACH(FRAGMENTS_M, LOAD_ZERO_POINTS)
#endif

  load_slab(tile, lane, first_slab);
  load_channels(tile);
#if STAGES == 2
  keep_slab(lane, first_slab);
  for (uint slab = first_slab; slab < end_slab; ++slab) {
    barrier();  // this slab has been written, the one before has been read
    if (slab + 1u < end_slab) load_slab(tile, lane, slab + 1u);
    add_slab(slab);
    if (slab + 1u < end_slab) keep_slab(lane, slab + 1u);
  }
#else
  // Which form is fast depends on what the compiler makes of the loads of the next slab: shaders/NOTES.md.
#define LARGE_TILES (!SPLITS && FRAGMENTS_M > 1)
#if SCALES_GROUPS && LARGE_TILES
  uint slab = first_slab;
  for (; slab + 1u < end_slab; ++slab) {
    begin_slab(lane, slab);
    load_slab(tile, lane, slab + 1u);
    add_slab(slab);
  }
  begin_slab(lane, slab);
  add_slab(slab);
#else
  for (uint slab = first_slab; slab < end_slab; ++slab) {
    begin_slab(lane, slab);
#if SCALES_WEIGHTS && LARGE_TILES
    load_slab(tile, lane, min(slab + 1u, end_slab - 1u));
#else
    if (slab + 1u < end_slab) load_slab(tile, lane, slab + 1u);
#endif
    add_slab(slab);
  }
#endif
#endif
  store_sums(tile, split);
}
