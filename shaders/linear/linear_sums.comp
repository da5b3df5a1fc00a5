#version 450
#extension GL_GOOGLE_include_directive : require

// Sums of packed weights over K, or over each group, which are multiplied by x's zero point. One workgroup per four
// output channels of one group.
//
// W_BITS, W_ROWS, W_TEXTURE, W_AT: see linear/weights.glslh
// W_ZERO_AT  weights have zero points, one per group and channel

#define DOT 0
#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "linear/dot4x8.glslh"
#include "linear/tables.glslh"
#include "linear/weights.glslh"

layout(push_constant) uniform Push {
  uint quads, blocks;  // quads of channels; blocks of packed weights along K
  uint blocks_of_group;
  uint slab_blocks, padded_blocks;  // after slab_blocks come zeros, up to padded_blocks
  uint groups;
  Divider by_quads;
} push;

layout(set = 0, binding = SUMS_AT) restrict writeonly buffer Sums { ivec4 sums[]; };

shared ivec4 partial[gl_WorkGroupSize.x];

ivec4 sum_of(uvec4 words, uint group, uint quad) {
#if W_BITS == 4
#ifdef W_ZERO_AT
  const uvec4 zero = uvec4(8 + w_zero_point(group, quad, push.quads));
#else
  const uvec4 zero = uvec4(8u);
#endif
  return dots4x8(0x01010101u, signed_nibbles(first_nibbles(words), zero)) +
         dots4x8(0x01010101u, signed_nibbles(last_nibbles(words), zero));
#else
  return dots4x8(0x01010101u, words);
#endif
}

void main() {
  const uint number = flat_workgroup();
  const uint lane = gl_LocalInvocationID.x;
  const uint group = min(divide(number, push.by_quads), push.groups - 1u);  // a folded grid may have more workgroups
  const uint quad = number % push.quads;
  ivec4 sum = ivec4(0);
  const uint end = min((group + 1u) * push.blocks_of_group, push.blocks);
  for (uint block = group * push.blocks_of_group + lane; block < end; block += gl_WorkGroupSize.x) {
    if (block % push.padded_blocks >= push.slab_blocks) continue;
    sum += sum_of(w_block(quad, block, push.blocks), group, quad);
  }
  partial[lane] = sum;
  for (uint half_size = gl_WorkGroupSize.x / 2u; half_size > 0u; half_size /= 2u) {
    barrier();
    if (lane < half_size) partial[lane] += partial[lane + half_size];
  }
  if (lane == 0u && number < push.groups * push.quads) sums[guard_words / 4u + number] = partial[0];
}
