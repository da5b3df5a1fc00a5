#version 450
#extension GL_GOOGLE_include_directive : require

// Rows of int8 weights [columns, depth] as words of four, the words of neighbouring columns side by side. What
// is past a row's end is 0. One invocation a word.

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(constant_id = 4) const uint depth = 1u;

layout(set = 0, binding = 0) readonly buffer W { uint w[]; };
layout(set = 0, binding = 1) writeonly buffer Packed { uint packed[]; };

layout(push_constant) uniform Push {
  uint columns;
} push;

uint weight(uint column, uint k) {
  const uint byte = column * depth + k;
  return bitfieldExtract(w[guard_words + byte / 4u], int(8u * (byte % 4u)), 8);
}

void main() {
  const uint i = flat_invocation();
  if (i >= (depth + 3u) / 4u * push.columns) return;
  uint word = 0u;
  for (uint lane = 0u; lane < 4u; ++lane) {
    const uint k = i / push.columns * 4u + lane;
    if (k < depth) word |= weight(i % push.columns, k) << (8u * lane);
  }
  packed[guard_words + i] = word;
}
