#version 450
#extension GL_GOOGLE_include_directive : require

// y = x, word by word, between two buffers: a view where the order in memory stays.
//
// WHOLE_QUADS  the number of words is a multiple of 4

#include "common/indexing.glslh"
#include "common/quads.glslh"

layout(push_constant) uniform Push {
  uint words;
} push;

layout(set = 0, binding = 0) restrict readonly buffer X { QUAD_OF_4 x[]; };
QUAD_READER_4(read_x, x)
layout(set = 0, binding = 1) restrict writeonly buffer Y { QUAD_OF_4 y[]; };
QUAD_WRITER_4(write_y, y)

void main() {
  const uint quad = flat_invocation();
  if (quad * 4u < push.words) write_y(quad, push.words, read_x(quad, push.words));
}
