#version 450
#extension GL_GOOGLE_include_directive : require

// Scale and zero point of each block of a tensor, from its smallest and largest value.
//
// TEXTURE      0: a buffer; 2 or 3: a texture with this many dimensions
// REAL_F16     the tensor is f16 instead of f32
// SPLIT        several workgroups share a box, and store its range for choose_qparams_join.comp
// LANES_APART  a block is 1 or 2 elements long along the packed axis: a box is four elements, hence several blocks
// RULE, SUBGROUPS, WHOLE_QUADS: see the included files
//
// Axes are in memory order, fastest first; the host merges those that need not be distinguished. A box is a block, or
// four neighbouring blocks (LANES_APART). It is read vector by vector: a vector is a quad or a texel; its column is its
// number along axis 0, its row its number along the other axes. An invocation's number has, from its lowest bits,
// column, box of the workgroup, row, so that neighbouring invocations read neighbouring vectors whatever the shape of a
// block.

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/qparams.glslh"
#include "common/value_range.glslh"

struct BoxAxis {
  uint size;    // elements
  uint block;   // elements of a box
  uint stride;  // from one box to the next, in block ids
};

layout(push_constant) uniform Push {
  uint boxes;
  BoxAxis axes[4];
  uint counts[3];  // boxes along axes 0, 1, 2
  Divider by_counts[3];
  uint vectors[3];  // vectors of a box along axes 0, 1, 2
  Divider by_vectors_1, by_vectors_2;
  float quant_min, quant_max, eps;
} push;

layout(constant_id = 16) const uint packed_axis = 0u;
layout(constant_id = 17) const uint column_bits = 0u;  // log2 of the invocations along axis 0
layout(constant_id = 18) const uint box_bits = 0u;     // log2 of the boxes that a workgroup reads at a time
layout(constant_id = 19) const uint split_bits = 0u;   // log2 of the workgroups that share a box
// Boxes of one row: vectors per invocation, at most MOST_EACH; 0: it loops.
layout(constant_id = 20) const uint each = 0u;
layout(constant_id = 21) const bool whole = false;    // boxes consist of whole vectors inside the tensor
layout(constant_id = 22) const uint lane_block = 1u;  // LANES_APART: lanes of a block
layout(constant_id = 23) const uint row_axes = 3u;    // the rows of a box lie along axes 1 to this one; 0: one row

struct Box {
  uvec4 first;  // elements along the axes
  uvec4 end;
  uint block;  // id of its first block
};

#if TEXTURE
#include "common/box_texture.glslh"
#else
#include "common/box_buffer.glslh"
#endif

#if SPLIT
layout(set = 0, binding = 1) restrict writeonly buffer Parts { vec2 parts[]; };
#else
layout(set = 0, binding = 1) restrict writeonly buffer Scale { float scale[]; };
layout(set = 0, binding = 2) restrict writeonly buffer ZeroPoint { int zero_point[]; };
#endif

#define VECTORS_AT_ONCE 4u
#define MOST_EACH 8u

Box box_of(uint number) {
  Box box;
  box.block = 0u;
  uint rest = number;
  for (uint i = 0u; i < 4u; ++i) {
    uint at = rest;
    if (i < 3u) {
      rest = divide(rest, push.by_counts[i]);
      at -= rest * push.counts[i];
    }
    box.first[i] = at * push.axes[i].block;
    box.end[i] = min(box.first[i] + push.axes[i].block, push.axes[i].size);
    box.block += at * push.axes[i].stride;
  }
  return box;
}

uvec3 row_of(uint number) {
  if (row_axes == 0u) return uvec3(0u);
  if (row_axes == 1u) return uvec3(number, 0u, 0u);
  const uint rest = divide(number, push.by_vectors_1);
  const uint last = divide(rest, push.by_vectors_2);
  return uvec3(number - rest * push.vectors[1], rest - last * push.vectors[2], last);
}

// The place of this invocation in its workgroup.
struct Lane {
  uint number;
  uint column;
  uint box;
  uint row;
};

Lane this_lane() {
  const uint number = flat_lane();
  return Lane(number, number & ((1u << column_bits) - 1u), (number >> column_bits) & ((1u << box_bits) - 1u),
              number >> (column_bits + box_bits));
}

// The range of the invocation's share of a box: columns and rows at fixed distances, of which workgroup `split` takes
// its part.
QuadRange range_of(Box box, Lane lane, uint split) {
  const uint rows = push.vectors[1] * push.vectors[2] * push.axes[3].block;
  const uint row_step = gl_WorkGroupSize.x >> (column_bits + box_bits);
  const uint across = (push.vectors[0] + (1u << column_bits) - 1u) >> column_bits;
  const uint steps = across * ((rows + row_step - 1u) / row_step);
  const uint share = (steps + (1u << split_bits) - 1u) >> split_bits;
  const uint end = min((split + 1u) * share, steps);
  uint step = split * share;
  const uint turn = step / across;
  uint column = lane.column + ((step - turn * across) << column_bits);
  uint row = lane.row + turn * row_step;
  Line line = line_of(box, row_of(row));
  QuadRange range = QuadRange(vec4(0.0), vec4(0.0));
  while (step < end) {
    vec4 values[VECTORS_AT_ONCE];
    for (uint i = 0u; i < VECTORS_AT_ONCE; ++i) {
      const bool here = step + i < end && column < push.vectors[0] && row < rows;
      values[i] = here ? load_vector(line, column) : vec4(0.0);
      column += 1u << column_bits;
      const bool at_end = column >= across << column_bits;
      column = at_end ? lane.column : column;
      row += at_end ? row_step : 0u;
      // Computed again for each vector: a branch would separate the loads.
      if (row_axes > 0u) line = line_of(box, row_of(row));
    }
    for (uint i = 0u; i < VECTORS_AT_ONCE; ++i) widen(range, values[i]);
    step += VECTORS_AT_ONCE;
  }
  return range;
}

#if SPLIT
void store(uint block, uint split, float low, float high) {
  parts[guard_words / 2u + (block << split_bits) + split] = vec2(low, high);
}
#else
void store(uint block, uint split, float low, float high) {
  const QParams chosen = qparams_of(low, high, QuantLimits(push.quant_min, push.quant_max, push.eps));
  scale[guard_words + block] = chosen.scale;
  zero_point[guard_words + block] = chosen.zero_point;
}
#endif

void store(Box box, uint split, Range range) {
#if LANES_APART
  const uint stride = push.axes[packed_axis].stride * lane_block / 4u;
  for (uint i = 0u; i < 4u; i += lane_block) {
    if (box.first[packed_axis] + i >= push.axes[packed_axis].size) return;
    const uint last = i + lane_block - 1u;
    store(box.block + i / lane_block * stride, split, min(range.low[i], range.low[last]),
          max(range.high[i], range.high[last]));
  }
#else
  store(box.block, split, range.low, range.high);
#endif
}

// The range of a box of one row, of which each invocation has so few vectors that all loads can be in flight at once.
QuadRange range_at_once(Box box, Lane lane) {
  const Line line = line_of(box, uvec3(0u));
  vec4 values[MOST_EACH];
  for (uint i = 0u; i < each; ++i) {
    const uint column = lane.column + (i << column_bits);
    values[i] = column < push.vectors[0] ? load_vector(line, column) : vec4(0.0);
  }
  QuadRange range = QuadRange(vec4(0.0), vec4(0.0));
  bool finite;
  WIDEN_BY_ALL(range, values, each, finite)
  return range;
}

void main() {
  const Lane lane = this_lane();
  const uint split = flat_workgroup() & ((1u << split_bits) - 1u);
  const uint number = (flat_workgroup() >> split_bits << box_bits) + lane.box;
  const bool exists = number < push.boxes;
  const Box box = box_of(exists ? number : 0u);
  QuadRange quads = QuadRange(vec4(0.0), vec4(0.0));
  if (exists && each > 0u) quads = range_at_once(box, lane);
  if (exists && each == 0u) quads = range_of(box, lane, split);
  const Range range = reduced(folded(quads), lane.number, ((1u << box_bits) - 1u) << column_bits);
  if (exists && lane.column == 0u && lane.row == 0u) store(box, split, range);
}
