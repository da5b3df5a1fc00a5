#version 450
#extension GL_GOOGLE_include_directive : require

// Moves halves between two buffers that are packed along different axes, whose sizes are multiples of 8.
//
// X_AXIS, Y_AXIS  packed axes
//
// An invocation transposes a tile of 8 x 8: it reads eight vectors along X_AXIS and writes eight along Y_AXIS. The bits
// of halves are not changed: words are split and recombined, nothing is converted.

#include "common/forms.glslh"
#include "common/guards.glslh"
#include "common/packing.glslh"
#include "common/tile_boxes.glslh"

layout(set = 0, binding = 0) restrict readonly buffer X { uvec4 x[]; };
layout(set = 0, binding = 1) restrict writeonly buffer Y { uvec4 y[]; };

layout(push_constant) uniform Push {
  uint width, height, channels;
  TileBoxes boxes;
  Strides x, y;
} push;

#define SIDE 8u

// Strides count halves, vectors hold eight.
uint vector_at(Strides strides, uint n, uvec3 at) { return (guard_words * 2u + offset_of(strides, n, at)) / SIDE; }

void main() {
  uint n;
  uvec3 at;
  if (!find_tile(push.boxes, n, at)) return;
  at[X_AXIS] *= SIDE;
  at[Y_AXIS] *= SIDE;
  if (any(greaterThanEqual(at, uvec3(push.width, push.height, push.channels)))) return;
  const uint x_first = vector_at(push.x, n, at);
  const uint x_step = step_along(push.x, Y_AXIS) / SIDE;
  uvec4 rows[SIDE];
  for (uint i = 0u; i < SIDE; ++i) rows[i] = x[x_first + i * x_step];
  uvec4 even[4], odd[4];  // columns 0, 2, 4, 6 and 1, 3, 5, 7 of rows 2i and 2i + 1
  for (uint i = 0u; i < 4u; ++i) {
    even[i] = low_halves(rows[2u * i], rows[2u * i + 1u]);
    odd[i] = high_halves(rows[2u * i], rows[2u * i + 1u]);
  }
  const uint y_first = vector_at(push.y, n, at);
  const uint y_step = step_along(push.y, X_AXIS) / SIDE;
  for (uint i = 0u; i < 4u; ++i) {
    y[y_first + 2u * i * y_step] = uvec4(even[0][i], even[1][i], even[2][i], even[3][i]);
    y[y_first + (2u * i + 1u) * y_step] = uvec4(odd[0][i], odd[1][i], odd[2][i], odd[3][i]);
  }
}
