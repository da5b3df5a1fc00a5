#version 450
#extension GL_GOOGLE_include_directive : require

// y[i] = x[source of i] between row-major buffers of 32-bit or 16-bit elements: a permutation of up to five dims. Each
// invocation writes four neighbours of y.
//
// HALVES  elements have 16 bits instead of 32

#include "common/guards.glslh"
#include "common/indexing.glslh"

#define MOST_DIMS 5u

layout(constant_id = 16) const uint dim_count = MOST_DIMS;

struct Dim {
  uint size;  // indices of the dim
  Divider by_size;
  uint step;  // distance in x from one index to the next
};

layout(push_constant) uniform Push {
  uint elements;
  Dim dims[MOST_DIMS];  // the dims of y, fastest first
} push;

layout(set = 0, binding = 0) restrict readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) restrict writeonly buffer Y { uint y[]; };

uint source_of(uint element) {
  uint rest = element;
  uint source = 0u;
  for (uint i = 0u; i + 1u < dim_count; ++i) {
    const uint quotient = divide(rest, push.dims[i].by_size);
    source += (rest - quotient * push.dims[i].size) * push.dims[i].step;
    rest = quotient;
  }
  return source + rest * push.dims[dim_count - 1u].step;
}

uint load(uint element) {
  const uint source = source_of(min(element, push.elements - 1u));
#if HALVES
  return bitfieldExtract(x[guard_words + source / 2u], int(source % 2u) * 16, 16);
#else
  return x[guard_words + source];
#endif
}

void main() {
  const uint first = flat_invocation() * 4u;
  if (first >= push.elements) return;
#if HALVES
  for (uint i = 0u; i < 4u; i += 2u) {
    if (first + i < push.elements) {
      y[guard_words + (first + i) / 2u] = load(first + i) | (load(first + i + 1u) << 16);
    }
  }
#else
  uvec4 words;
  for (uint i = 0u; i < 4u; ++i) words[i] = load(first + i);
  for (uint i = 0u; i < 4u; ++i) {
    if (first + i < push.elements) y[guard_words + first + i] = words[i];
  }
#endif
}
