#version 450
#extension GL_GOOGLE_include_directive : require

// Copies rows of numbers, one per output channel, with zeros after the last up to a whole quad; or stores them by quads
// of channels, the numbers of all rows side by side. One invocation per number.

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(constant_id = 4) const bool by_quad = false;

layout(push_constant) uniform Push {
  uint columns, padded;
  uint rows;
  Divider by_padded;
} push;

layout(set = 0, binding = 0) restrict readonly buffer From { uint from[]; };
layout(set = 0, binding = 1) restrict writeonly buffer To { uint to[]; };

void main() {
  const uint number = flat_invocation();
  if (number >= push.rows * push.padded) return;
  const uint row = divide(number, push.by_padded);
  const uint column = number - row * push.padded;
  const uint at = by_quad ? ((column >> 2) * push.rows + row) * 4u + (column & 3u) : number;
  to[guard_words + at] = column < push.columns ? from[guard_words + row * push.columns + column] : 0u;
}
