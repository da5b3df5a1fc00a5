#version 450
#extension GL_GOOGLE_include_directive : require

// Turns pairs (a, b) of the first `turned` values of each head by the row of the tables for the token's position, to
// (a cos - b sin, a sin + b cos), and copies the others, in buffers bit by bit. x and y are [batch, tokens, heads,
// width].
//
// TEXTURE      3: x and y are width-packed 3D textures; 0: buffers
// F16          x and y are f16 instead of f32
// INTERLEAVED  pairs are (2i, 2i + 1) instead of (i, i + turned / 2)
// CACHE        1: y is a cache, of whose rows those of tokens at their positions are written; nothing of it is read
// BY_HEAD      CACHE: the cache is [batch, heads, capacity, width] instead of [batch, capacity, heads, width]
// HALVES       CACHE without QUADS: heads are of f16 and end in the middle of words
// QUADS        1: an invocation turns a quad, or two that are half of the turned values apart, or copies a quad;
//              0: it makes a word of y; HALVES: half a word; TEXTURE: a texel
// TURNED_QUADS  QUADS: the quads that an invocation turns: 1 or 2, and 2 where pairs are apart

#ifndef CACHE
#define CACHE 0
#define BY_HEAD 0
#define HALVES 0
#endif
#define WHOLE_QUADS QUADS
#define REAL_F16 F16
#include "common/guards.glslh"
#include "common/half_texels.glslh"
#include "common/indexing.glslh"
#include "common/packing.glslh"
#include "common/quads.glslh"
#include "common/texels.glslh"
#include "transformer/turned_pair.glslh"

layout(push_constant) uniform Push {
  uint count;     // of invocations
  uint elements;  // of x and y
  uint parts;     // QUADS, TEXTURE: invocations per head
  uint width, turned;
  uint heads, tokens;
  uint start;  // position of the first token
  Divider by_parts;
  Divider by_width, by_heads, by_tokens;
#if CACHE
  uint capacity;  // rows of the cache for a head
#endif
} push;

#if F16
#define WORDS_ARRAY QUAD_OF_2
#else
#define WORDS_ARRAY QUAD_OF_4
#endif
#if TEXTURE
layout(set = 0, binding = 0, REAL_TEXEL) uniform restrict readonly REAL_IMAGE x;
layout(set = 0, binding = 3, REAL_TEXEL) uniform restrict writeonly REAL_IMAGE y;
#else
layout(set = 0, binding = 0) restrict readonly buffer X { WORDS_ARRAY x[]; };
#if HALVES
layout(set = 0, binding = 3) restrict buffer Y { WORDS_ARRAY y[]; };
#else
layout(set = 0, binding = 3) restrict writeonly buffer Y { WORDS_ARRAY y[]; };
#endif
#endif

// Quads of a head: numbers in a buffer, texels of a texture, of which a token is a slice and a head a line.
#if TEXTURE
#define QUAD uvec3
uvec3 first_quad(uint head) {
  const uint token = divide(head, push.by_heads);
  return uvec3(0u, head - token * push.heads, token);
}
uvec3 later(uvec3 texel, uint quads) { return uvec3(texel.x + quads, texel.yz); }
#else
#define QUAD uint
uint first_quad(uint head) { return head * (push.width / 4u); }
uint later(uint quad, uint quads) { return quad + quads; }
#endif

// The row of y for a head.
uint head_of_y(uint head) {
#if CACHE
  const uint token = divide(head, push.by_heads), in_token = head - token * push.heads;
  const uint batch = divide(token, push.by_tokens), position = push.start + token - batch * push.tokens;
#if BY_HEAD
  return (batch * push.heads + in_token) * push.capacity + position;
#else
  return (batch * push.capacity + position) * push.heads + in_token;
#endif
#else
  return head;
#endif
}

// The first table entry for a head.
uint row_of(uint head) {
  const uint token = divide(head, push.by_heads);
  const uint position = push.start + token - divide(token, push.by_tokens) * push.tokens;
  return position * (push.turned / 2u);
}

#if QUADS
#if TEXTURE
vec4 read_x(uvec3 texel, uint words) { return imageLoad(x, TEXEL(texel)); }
void write_y(uvec3 texel, uint words, vec4 values) { imageStore(y, TEXEL(texel), values); }
vec4 reals_of(vec4 values) { return values; }
vec4 words_of(vec4 values) { return texel_of_reals(values); }
#elif F16
QUAD_READER_2(read_x, x)  // whole quads need no number of words
QUAD_WRITER_2(write_y, y)
vec4 reals_of(uvec2 words) { return unpack_halves(words); }
uvec2 words_of(vec4 values) { return pack_halves(values); }
#else
QUAD_READER_4(read_x, x)
QUAD_WRITER_4(write_y, y)
vec4 reals_of(uvec4 words) { return uintBitsToFloat(words); }
uvec4 words_of(vec4 values) { return floatBitsToUint(values); }
#endif

#if INTERLEAVED
layout(set = 0, binding = 1) restrict readonly buffer Cos { vec2 cosines[]; };
layout(set = 0, binding = 2) restrict readonly buffer Sin { vec2 sines[]; };
#define TURNING_PARTS (push.turned / (4u * TURNED_QUADS))

vec4 turned_quad(vec4 values, vec2 cosine, vec2 sine) {
  return vec4(first_turned(values.x, values.y, cosine.x, sine.x), second_turned(values.x, values.y, cosine.x, sine.x),
              first_turned(values.z, values.w, cosine.y, sine.y), second_turned(values.z, values.w, cosine.y, sine.y));
}

void turn(QUAD quad, QUAD to, uint row, uint part) {
  const uint entry = (guard_words + row) / 2u + part;
  const vec2 cosine = cosines[entry], sine = sines[entry];
  const vec4 values = reals_of(read_x(quad, 0u));
#if TURNED_QUADS == 2
  const uint apart = push.turned / 8u;
  const vec2 next_cosine = cosines[entry + apart], next_sine = sines[entry + apart];
  const vec4 next = reals_of(read_x(later(quad, apart), 0u));
  write_y(later(to, apart), 0u, words_of(turned_quad(next, next_cosine, next_sine)));
#endif
  write_y(to, 0u, words_of(turned_quad(values, cosine, sine)));
}
#else
layout(set = 0, binding = 1) restrict readonly buffer Cos { vec4 cosines[]; };
layout(set = 0, binding = 2) restrict readonly buffer Sin { vec4 sines[]; };
#define TURNING_PARTS (push.turned / 8u)

void turn(QUAD quad, QUAD to, uint row, uint part) {
  const vec4 cosine = cosines[(guard_words + row) / 4u + part], sine = sines[(guard_words + row) / 4u + part];
  const uint apart = push.turned / 8u;
  const vec4 a = reals_of(read_x(quad, 0u)), b = reals_of(read_x(later(quad, apart), 0u));
  vec4 first, second;
  for (uint i = 0u; i < 4u; ++i) {
    first[i] = first_turned(a[i], b[i], cosine[i], sine[i]);
    second[i] = second_turned(a[i], b[i], cosine[i], sine[i]);
  }
  write_y(to, 0u, words_of(first));
  write_y(later(to, apart), 0u, words_of(second));
}
#endif

void main() {
  const uint number = flat_invocation();
  if (number >= push.count) return;
  const uint head = divide(number, push.by_parts);
  const uint part = number - head * push.parts;
  const QUAD first = first_quad(head), first_of_y = first_quad(head_of_y(head));
  if (part < TURNING_PARTS) {
    turn(later(first, part), later(first_of_y, part), row_of(head), part);
  } else {
    const uint place = push.turned / 4u + part - TURNING_PARTS;
    write_y(later(first_of_y, place), 0u, read_x(later(first, place), 0u));
  }
}
#else
layout(set = 0, binding = 1) restrict readonly buffer Cos { float cosines[]; };
layout(set = 0, binding = 2) restrict readonly buffer Sin { float sines[]; };

#if TEXTURE
float real_at(uint head, uint column) { return imageLoad(x, TEXEL(later(first_quad(head), column / 4u)))[column & 3u]; }
#else
#if F16
uint bits_at(uint element) { return (x[guard_words + element / 2u] >> (16u * (element & 1u))) & 0xffffu; }
float real_of(uint bits) { return unpackHalf2x16(bits).x; }
uint bits_of(float value) { return pack_halves(vec4(value)).x & 0xffffu; }
#else
uint bits_at(uint element) { return x[guard_words + element]; }
float real_of(uint bits) { return uintBitsToFloat(bits); }
uint bits_of(float value) { return floatBitsToUint(value); }
#endif

float real_at(uint head, uint column) { return real_of(bits_at(head * push.width + column)); }
#endif

// What becomes of the value at a column of a head that turns.
float turned_value(uint head, uint column) {
#if INTERLEAVED
  const bool is_first = (column & 1u) == 0u;
  const uint pair = column / 2u, apart = 1u;
#else
  const uint apart = push.turned / 2u;
  const bool is_first = column < apart;
  const uint pair = is_first ? column : column - apart;
#endif
  const uint entry = guard_words + row_of(head) + pair;
  const float value = real_at(head, column);
  const float other = real_at(head, is_first ? column + apart : column - apart);
  const float cosine = cosines[entry], sine = sines[entry];
  return is_first ? first_turned(value, other, cosine, sine) : second_turned(other, value, cosine, sine);
}

#if TEXTURE
void main() {
  const uint number = flat_invocation();
  if (number >= push.count) return;
  const uint head = divide(number, push.by_parts);
  const uint part = number - head * push.parts;
  const ivec3 texel = TEXEL(later(first_quad(head), part));
  const uvec4 columns = part * 4u + uvec4(0u, 1u, 2u, 3u);
  vec4 values = imageLoad(x, texel);
  for (uint i = 0u; i < 4u; ++i) {
    if (columns[i] < push.turned) values[i] = texel_of_reals(vec4(turned_value(head, columns[i]))).x;
  }
  imageStore(y, texel, values);
}
#else
uint element_of_y(uint element) {
  const uint head = divide(element, push.by_width);
  const uint column = element - head * push.width;
  if (column >= push.turned) return bits_at(element);
  return bits_of(turned_value(head, column));
}

// The element of y for an element of x.
uint place_in_y(uint element) {
#if CACHE
  const uint head = divide(element, push.by_width);
  return head_of_y(head) * push.width + element - head * push.width;
#else
  return element;
#endif
}

void main() {
  const uint number = flat_invocation();
  if (number >= push.count) return;
#if HALVES
  // The other half of the word may be another head's, which is written at the same time, or a value that stays.
  const uint place = place_in_y(number), shift = 16u * (place & 1u);
  const uint bits = element_of_y(number);
  atomicAnd(y[guard_words + place / 2u], ~(0xffffu << shift));
  atomicOr(y[guard_words + place / 2u], bits << shift);
#elif F16
  const uint high = 2u * number + 1u;
  y[guard_words + place_in_y(2u * number) / 2u] =
      element_of_y(2u * number) | (high < push.elements ? element_of_y(high) << 16 : 0u);
#else
  y[guard_words + place_in_y(number)] = element_of_y(number);
#endif
}
#endif
#endif
