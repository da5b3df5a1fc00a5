#version 450
#extension GL_GOOGLE_include_directive : require

// y[i, d] = w_scale[v, group of d] * (nibble - 8) with v = indices[i]; an even d has the high nibble of its byte. An
// invocation computes 16 bytes of a buffer (4 values of f32, 8 of f16) `vectors_per_invocation` times, or one texel.
//
// Y_TEXTURE  y is a width-packed 3D texture; else a buffer
// Y_F16      y is f16 instead of f32
// W_TEXTURE  w is a 2D texture whose texels are words; else a buffer

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/nibbles.glslh"
#include "common/packing.glslh"
#if !Y_TEXTURE
#include "common/vectors.glslh"
#endif
#include "common/quantize.glslh"

// A row of y is `columns` vectors.
layout(push_constant) uniform Push {
  uint count;            // buffers: vectors in all
  uint columns, height;  // textures: texels in x and y
  uint row_words;        // words per row of w
  uint row_groups;       // scales per row
  Divider by_columns;
  Divider by_group;  // vectors per group
} push;

#if W_TEXTURE
layout(set = 0, binding = 0, rgba8ui) uniform restrict readonly uimage2D w;
uint load_word(uint row, uint word) { return pack_bytes(ivec4(imageLoad(w, ivec2(word, row)))); }
#else
layout(set = 0, binding = 0) restrict readonly buffer W { uint w[]; };
uint load_word(uint row, uint word) { return w[guard_words + row * push.row_words + word]; }
#endif
layout(set = 0, binding = 1) restrict readonly buffer WScale { float w_scale[]; };
layout(set = 0, binding = 2) restrict readonly buffer Indices { int indices[]; };

float load_scale(uint row, uint column) {
  return w_scale[guard_words + row * push.row_groups + divide(column, push.by_group)];
}

uint load_index(uint at) { return uint(indices[guard_words + at]); }

vec4 scaled(uint bytes, float scale) {
  const vec4 values = high_nibbles_first(bytes);
  return vec4(product(values.x, scale), product(values.y, scale), product(values.z, scale), product(values.w, scale));
}

// Four values take half a word.
vec4 scaled_half(uint word, uint column, float scale) { return scaled(word >> (16u * (column & 1u)), scale); }

#if Y_TEXTURE
#if Y_F16
layout(set = 0, binding = 3, rgba16f) uniform restrict writeonly image3D y;
#else
layout(set = 0, binding = 3, rgba32f) uniform restrict writeonly image3D y;
#endif

void main() {
  const uvec3 texel = gl_GlobalInvocationID;
  const uint at = texel.z * push.height + texel.y;
  if (texel.x >= push.columns || texel.y >= push.height || at * push.columns >= push.count) return;
  const uint row = load_index(at);
  vec4 values = scaled_half(load_word(row, texel.x >> 1), texel.x, load_scale(row, texel.x));
#if Y_F16
  values = overflowed_halves(values);
#endif
  imageStore(y, ivec3(texel), values);
}
#else
layout(set = 0, binding = 3) restrict writeonly buffer Y { uvec4 y[]; };

#if Y_F16
#define WORD_OF(column) (column)
uvec4 vector_of(uint word, uint column, float scale) {
  return uvec4(pack_halves(scaled(word, scale)), pack_halves(scaled(word >> 16, scale)));
}
#else
#define WORD_OF(column) ((column) >> 1)
uvec4 vector_of(uint word, uint column, float scale) { return floatBitsToUint(scaled_half(word, column, scale)); }
#endif

void main() {
  uint columns[MOST_VECTORS];
  uint rows[MOST_VECTORS];
  uint count = 0u;
  for (; count < vectors_per_invocation; ++count) {
    const uint vector = vector_at(count);
    if (vector >= push.count) break;
    const uint at = divide(vector, push.by_columns);
    columns[count] = vector - at * push.columns;
    rows[count] = load_index(at);
  }
  uint words[MOST_VECTORS];
  float scales[MOST_VECTORS];
  for (uint k = 0u; k < vectors_per_invocation; ++k) {
    if (k >= count) break;
    words[k] = load_word(rows[k], WORD_OF(columns[k]));
    scales[k] = load_scale(rows[k], columns[k]);
  }
  for (uint k = 0u; k < vectors_per_invocation; ++k) {
    if (k >= count) return;
    y[guard_words / 4u + vector_at(k)] = vector_of(words[k], columns[k], scales[k]);
  }
}
#endif
