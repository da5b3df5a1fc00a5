#version 450
#extension GL_GOOGLE_include_directive : require

// Measures the bandwidth of memory: two buffers of one length, in chunks of VECTORS 16-byte vectors per invocation
// and buffer. Each chunk moves the same number of bytes in every mode.
//
// MODE     0: b = a; 1: a and b are read; 2: a and b are written
// VECTORS  1, 2, 4 or 8: loads that an invocation has in flight before it uses the first
// ROUNDS   0: a workgroup takes one chunk and ends, as most kernels do; 1: `rounds` chunks one after the other,
//          so that a footprint of any size keeps the device busy for long enough. Each round takes another chunk,
//          and accesses are coherent: repeated accesses are served by the cache that all workgroups share.

#include "common/indexing.glslh"
#include "ceilings/keep.glslh"
#include "common/unroll.glslh"

layout(push_constant) uniform Push {
  uint chunks;  // chunks of the footprint
  uint step;    // from a round's chunk to the next round's, less than `chunks`
  uint rounds;
  Keep keep;
} push;

#if ROUNDS
#define SHARED coherent
#else
#define SHARED restrict
#endif

#if MODE == 0
layout(set = 0, binding = 0) SHARED readonly buffer A { uvec4 a[]; };
layout(set = 0, binding = 1) SHARED writeonly buffer B { uvec4 b[]; };
#elif MODE == 1
layout(set = 0, binding = 0) SHARED readonly buffer A { uvec4 a[]; };
layout(set = 0, binding = 1) SHARED readonly buffer B { uvec4 b[]; };
layout(set = 0, binding = 2) writeonly buffer Sink { uint sink[]; };
#else
layout(set = 0, binding = 0) SHARED writeonly buffer A { uvec4 a[]; };
layout(set = 0, binding = 1) SHARED writeonly buffer B { uvec4 b[]; };
#endif

#define LOAD_A(i) const uvec4 a##i = a[first + uint(i) * gl_WorkGroupSize.x];
#define LOAD_B(i) const uvec4 b##i = b[first + uint(i) * gl_WorkGroupSize.x];
#define COPY(i) b[first + uint(i) * gl_WorkGroupSize.x] = a##i;
#define TAKE(i) value ^= a##i ^ b##i;
#define STORE(i)                                   \
  a[first + uint(i) * gl_WorkGroupSize.x] = value; \
  b[first + uint(i) * gl_WorkGroupSize.x] = ~value;

// Visits a chunk. `value` is written, or accumulates what has been read.
void visit(uint chunk, inout uvec4 value) {
  const uint first = chunk * (VECTORS * gl_WorkGroupSize.x) + gl_LocalInvocationID.x;
#if MODE == 0
  EACH(VECTORS, LOAD_A)
  EACH(VECTORS, COPY)
#elif MODE == 1
  EACH(VECTORS, LOAD_A)
  EACH(VECTORS, LOAD_B)
  EACH(VECTORS, TAKE)
#else
  EACH(VECTORS, STORE)
#endif
}

void main() {
#if MODE == 2
  uvec4 value = uvec4(flat_invocation()) * uvec4(0x9e3779b9u, 0x85ebca6bu, 0xc2b2ae35u, 0x27d4eb2fu);
#else
  uvec4 value = uvec4(0u);
#endif
#if ROUNDS
  uint chunk = flat_workgroup() % push.chunks;
  for (uint i = 0u; i < push.rounds; ++i) {
    visit(chunk, value);
    chunk += push.step;
    if (chunk >= push.chunks) chunk -= push.chunks;
  }
#else
  if (flat_workgroup() >= push.chunks) return;
  visit(flat_workgroup(), value);
#endif
#if MODE == 1
  const uint all = value.x ^ value.y ^ value.z ^ value.w;
  if (keeps(push.keep, all)) sink[flat_invocation() % uint(sink.length())] = all;
#endif
}
