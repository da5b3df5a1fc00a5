#version 450
#extension GL_GOOGLE_include_directive : require

// Scale and zero point of each block from the ranges that several workgroups of choose_qparams.comp found in it; one
// workgroup per block. RULE, SUBGROUPS: see the included files.

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/qparams.glslh"
#define LANES_APART 0
#include "common/value_range.glslh"

layout(push_constant) uniform Push {
  uint blocks;
  uint parts;  // ranges per block
  float quant_min, quant_max, eps;
} push;

layout(set = 0, binding = 0) restrict readonly buffer Parts { vec2 parts[]; };
layout(set = 0, binding = 1) restrict writeonly buffer Scale { float scale[]; };
layout(set = 0, binding = 2) restrict writeonly buffer ZeroPoint { int zero_point[]; };

void main() {
  const uint block = flat_workgroup();
  if (block >= push.blocks) return;
  const uint lane = flat_lane();
  Range range = Range(0.0, 0.0);
  for (uint i = lane; i < push.parts; i += gl_WorkGroupSize.x) {
    const vec2 part = parts[guard_words / 2u + block * push.parts + i];
    widen(range, Range(part.x, part.y));
  }
  range = reduced(range, lane, 0u);
  if (lane != 0u) return;
  const QParams chosen = qparams_of(range.low, range.high, QuantLimits(push.quant_min, push.quant_max, push.eps));
  scale[guard_words + block] = chosen.scale;
  zero_point[guard_words + block] = chosen.zero_point;
}
