#version 450
#extension GL_GOOGLE_include_directive : require

// As update_cache.comp, for width-packed textures: an invocation copies a texel, four values of a head. Slices of x are
// tokens, and their rows heads; so they are in the cache, or its slices are heads and their rows tokens. Nothing of the
// cache is read. Values of a texel past the end of a row are copied, too: they are no values of the cache.
//
// BY_HEAD   1: slices of the cache are heads
// REAL_F16  values are f16 instead of f32

#include "common/indexing.glslh"
#include "common/texels.glslh"

layout(push_constant) uniform Push {
  uint count;  // of invocations
  uint quads;  // of a row
  uint heads, tokens, capacity;
  uint start;  // position of the first token
  Divider by_quads, by_heads, by_tokens;
} push;

layout(set = 0, binding = 0) uniform sampler3D x;
layout(set = 0, binding = 1, REAL_TEXEL) uniform restrict writeonly REAL_IMAGE cache;

void main() {
  const uint number = flat_invocation();
  if (number >= push.count) return;
  const uint row = divide(number, push.by_quads), quad = number - row * push.quads;
  const uint slice = divide(row, push.by_heads), head = row - slice * push.heads;
  const uint batch = divide(slice, push.by_tokens), position = push.start + slice - batch * push.tokens;
#if BY_HEAD
  const uvec3 to = uvec3(quad, position, batch * push.heads + head);
#else
  const uvec3 to = uvec3(quad, head, batch * push.capacity + position);
#endif
  imageStore(cache, ivec3(to), texelFetch(x, ivec3(quad, head, slice), 0));
}
