#version 450
#extension GL_GOOGLE_include_directive : require

// Pixel shuffle by 2 between width-packed buffers: y[n, c, 2h + down, 2w + right] = x[n, 4c + 2 down + right, h, w].
//
// HALVES  elements have 16 bits instead of 32
//
// A row of y interleaves two rows of x, `right` 0 and 1, a plane apart. A vector is four words of y, made from two
// words of each row: neighbours read neighbouring pairs and write neighbouring quads. `plane` combines batch and
// channel of y.

#include "common/guards.glslh"
#include "common/vectors.glslh"

layout(push_constant) uniform Push {
  uint quads;       // quads of y, four words each
  uint columns;     // quads of a row of y: pairs of words of a row of x
  uint height;      // height of x
  uint plane_step;  // pairs from one plane of x to the next
  Divider by_columns;
  Divider by_height;
} push;

layout(set = 0, binding = 0) restrict readonly buffer X { uvec2 x[]; };
layout(set = 0, binding = 1) restrict writeonly buffer Y { uvec4 y[]; };

// The pair of x that gives the even elements; the pair of the odd ones lies a plane further.
uint source_of(uint quad) {
  const uint row = divide(quad, push.by_columns);
  const uint column = quad - row * push.columns;
  const uint plane = divide(row / 2u, push.by_height);
  const uint h = row / 2u - plane * push.height;
  return (4u * plane + 2u * (row % 2u)) * push.plane_step + h * push.columns + column;
}

uvec4 interleaved(uvec2 even, uvec2 odd) {
#if HALVES
  const uvec2 low = (even & 0xffffu) | (odd << 16);
  const uvec2 high = (even >> 16) | (odd & 0xffff0000u);
  return uvec4(low.x, high.x, low.y, high.y);
#else
  return uvec4(even.x, odd.x, even.y, odd.y);
#endif
}

void main() {
  uvec2 even[MOST_VECTORS], odd[MOST_VECTORS];
  uint count = 0u;
  for (; count < vectors_per_invocation; ++count) {
    if (vector_at(count) >= push.quads) break;
    const uint source = guard_words / 2u + source_of(vector_at(count));
    even[count] = x[source];
    odd[count] = x[source + push.plane_step];
  }
  for (uint k = 0u; k < vectors_per_invocation; ++k) {
    if (k >= count) return;
    y[guard_words / 4u + vector_at(k)] = interleaved(even[k], odd[k]);
  }
}
