#version 450
#extension GL_GOOGLE_include_directive : require

// y[n, c, oh, ow] = requantize(x[n, c*r*r + (oh%r)*r + ow%r, oh/r, ow/r]) between int8x4 layouts.
//
// X_QUADS, Y_QUADS  the words of four pixels, 4*i to 4*i + 3, lie together and aligned: always in 4W4C, and in
//                   4C1W when the width is a multiple of 4
// ROUNDS_TO_EVEN    see common/rounding.glslh
//
// A tile is the work of one invocation; tiles are numbered so that neighbours write neighbouring words. For r = 1 and 2
// a tile is the four pixels of one input quad and all the channels that make one output block: r*r whole output quads.
// For r = 2 tiles may be split, where whole ones would leave a device idle. For other factors a tile is one output
// quad.

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/int8x4.glslh"
#include "common/requantize.glslh"

layout(constant_id = 16) const uint upscale = 2u;
layout(constant_id = 17) const uint x_layout = LAYOUT_4W4C;
layout(constant_id = 18) const uint y_layout = LAYOUT_4W4C;
layout(constant_id = 19) const bool requantizes = true;
// 1, and for r = 2 also 2: a part is one output row; 4: one output quad; 16: one output word.
layout(constant_id = 20) const uint split = 1u;

layout(push_constant) uniform Push {
  uint tiles;
  uint tile_columns;  // tiles along the width, in quads
  Divider by_columns;
  Divider by_blocks;  // blocks of the output
  Extent x_extent;
  Extent y_extent;
  uint y_channels;
  Requantization requantization;
  float low, high;  // bounds of an output value minus the zero point
} push;

// The same numbers as specialization constants. A dispatch over a small tensor waits for latency, and its push
// constants are in no cache when it begins: a program that has them built in does not wait (shaders/NOTES.md).
layout(constant_id = 21) const bool baked = false;
layout(constant_id = 22) const uint baked_tiles = 0u;
layout(constant_id = 23) const uint baked_tile_columns = 1u;
layout(constant_id = 24) const uint baked_x_width = 1u;
layout(constant_id = 25) const uint baked_x_blocks = 1u;
layout(constant_id = 26) const uint baked_y_width = 1u;
layout(constant_id = 27) const uint baked_y_blocks = 1u;
layout(constant_id = 28) const uint baked_y_channels = 1u;
layout(constant_id = 29) const int baked_x_zero_point = 0;
layout(constant_id = 30) const float baked_x_scale = 1.0;
layout(constant_id = 31) const float baked_y_inverse_scale = 1.0;
layout(constant_id = 32) const int baked_y_zero_point = 0;
layout(constant_id = 33) const float baked_low = 0.0;
layout(constant_id = 34) const float baked_high = 0.0;

uint tiles() { return baked ? baked_tiles : push.tiles; }
uint tile_columns() { return baked ? baked_tile_columns : push.tile_columns; }
uint y_channels() { return baked ? baked_y_channels : push.y_channels; }
uint over_columns(uint n) { return baked ? n / baked_tile_columns : divide(n, push.by_columns); }
uint over_blocks(uint n) { return baked ? n / baked_y_blocks : divide(n, push.by_blocks); }

Extent x_extent() {
  if (baked) return Extent(baked_x_width, baked_x_blocks);
  return push.x_extent;
}

Extent y_extent() {
  if (baked) return Extent(baked_y_width, baked_y_blocks);
  return push.y_extent;
}

#if X_QUADS
layout(set = 0, binding = 0) restrict readonly buffer X { uvec4 x[]; };
#else
layout(set = 0, binding = 0) restrict readonly buffer X { uint x[]; };
#endif
#if Y_QUADS
layout(set = 0, binding = 1) restrict writeonly buffer Y { uvec4 y[]; };
#else
layout(set = 0, binding = 1) restrict writeonly buffer Y { uint y[]; };
#endif

uint x_index(uint row, uint block, uint w) { return guard_words + word_index(x_layout, x_extent(), row, block, w); }

uint y_index(uint row, uint block, uint w) { return guard_words + word_index(y_layout, y_extent(), row, block, w); }

uint load_word(uint row, uint block, uint w) {
  const uint word = x_index(row, block, w);
#if X_QUADS
  return x[word / 4u][word % 4u];
#else
  return x[word];
#endif
}

// The words of four pixels; words past the width are unspecified.
uvec4 load_quad(uint row, uint block, uint quad) {
#if X_QUADS
  return x[x_index(row, block, quad * 4u) / 4u];
#else
  uvec4 words = uvec4(0u);
  for (uint i = 0u; i < 4u; ++i) {
    const uint w = quad * 4u + i;
    if (w < x_extent().width) words[i] = load_word(row, block, w);
  }
  return words;
#endif
}

void store_quad(uint row, uint block, uint quad, uvec4 words) {
  if (quad * 4u >= y_extent().width) return;
#if Y_QUADS
  y[y_index(row, block, quad * 4u) / 4u] = words;
#else
  for (uint i = 0u; i < 4u; ++i) {
    const uint w = quad * 4u + i;
    if (w < y_extent().width) y[y_index(row, block, w)] = words[i];
  }
#endif
}

// Requantizes in the order of the unfused chain, which gives the same integers.
uint requantize(uint word) {
  if (!baked) return requantized_word(word, push.requantization, push.low, push.high);
  const Requantization by =
      Requantization(baked_x_zero_point, baked_x_scale, baked_y_inverse_scale, baked_y_zero_point);
  return requantized_word(word, by, baked_low, baked_high);
}

uvec4 requantize_words(uvec4 words) {
  if (!requantizes) return words;
  return uvec4(requantize(words.x), requantize(words.y), requantize(words.z), requantize(words.w));
}

void copy_quad(uint row, uint block, uint quad) {
  store_quad(row, block, quad, requantize_words(load_quad(row, block, quad)));
}

// r = 2: the four channels of an input block are the four places of one output channel, so transposing the bytes of
// four input blocks makes one output block.
void shuffle_tile_by_2(uint row, uint block, uint quad) {
  uvec4 places[4];
  for (uint lane = 0u; lane < 4u; ++lane) {
    const uint channel = block * 4u + lane;
    places[lane] = channel < y_channels() ? load_quad(row, channel, quad) : uvec4(0u);
  }
  transpose_bytes(places);
  for (uint down = 0u; down < 2u; ++down) {
    const uvec4 even = places[2u * down];
    const uvec4 odd = places[2u * down + 1u];
    const uint y_row = row * 2u + down;
    store_quad(y_row, block, 2u * quad, requantize_words(uvec4(even.x, odd.x, even.y, odd.y)));
    store_quad(y_row, block, 2u * quad + 1u, requantize_words(uvec4(even.z, odd.z, even.w, odd.w)));
  }
}

// Bytes 0 and 2 of 2 words, for four pixels at once.
uvec4 even_bytes(uvec4 first, uvec4 second) {
  const uvec4 low = first & 0x00ff00ffu;
  const uvec4 high = second & 0x00ff00ffu;
  return ((low | (low >> 8)) & 0xffffu) | ((high | (high >> 8)) << 16);
}

// Computes one row of a tile's output, or one quad of it. Every invocation that shares a tile reads all of it.
void shuffle_part_by_2(uint y_row, uint block, uint column) {
  const uint down = 16u * (y_row % 2u);
  const uint quad = split == 4u ? column / 2u : column;
  uvec4 halves[4];
  for (uint lane = 0u; lane < 4u; ++lane) {
    const uint channel = min(block * 4u + lane, y_channels() - 1u);
    halves[lane] = (load_quad(y_row / 2u, channel, quad) >> down) & 0xffffu;
  }
  const uvec4 first = halves[0] | (halves[1] << 16);
  const uvec4 second = halves[2] | (halves[3] << 16);
  const uvec4 even = even_bytes(first, second);
  const uvec4 odd = even_bytes(first >> 8, second >> 8);
  const uvec4 left = uvec4(even.x, odd.x, even.y, odd.y);
  const uvec4 right = uvec4(even.z, odd.z, even.w, odd.w);
  if (split == 4u) {
    store_quad(y_row, block, column, requantize_words(column % 2u == 0u ? left : right));
  } else {
    store_quad(y_row, block, 2u * quad, requantize_words(left));
    store_quad(y_row, block, 2u * quad + 1u, requantize_words(right));
  }
}

void shuffle_word_by_2(uint y_row, uint block, uint w) {
  if (w >= y_extent().width) return;
  const uint place = 2u * (y_row % 2u) + w % 2u;
  uvec4 bytes;
  for (uint lane = 0u; lane < 4u; ++lane) {
    const uint channel = min(block * 4u + lane, y_channels() - 1u);
    bytes[lane] = byte_of(load_word(y_row / 2u, channel, w / 2u), place);
  }
  uint word = bytes.x | (bytes.y << 8) | (bytes.z << 16) | (bytes.w << 24);
  if (requantizes) word = requantize(word);
  const uint at = y_index(y_row, block, w);
#if Y_QUADS
  y[at / 4u][at % 4u] = word;
#else
  y[at] = word;
#endif
}

uint gather_word(uint row, uint block, uint w) {
  const uint place = row % upscale * upscale + w % upscale;
  uint word = 0u;
  for (uint lane = 0u; lane < 4u; ++lane) {
    const uint channel = block * 4u + lane;
    if (channel >= y_channels()) break;
    const uint x_channel = channel * (upscale * upscale) + place;
    const uint x_word = load_word(row / upscale, x_channel / 4u, w / upscale);
    word |= byte_of(x_word, x_channel % 4u) << (8u * lane);
  }
  return word;
}

void gather_quad(uint row, uint block, uint quad) {
  uvec4 words = uvec4(0u);
  for (uint i = 0u; i < 4u; ++i) {
    const uint w = quad * 4u + i;
    if (w < y_extent().width) words[i] = gather_word(row, block, w);
  }
  store_quad(row, block, quad, requantize_words(words));
}

void main() {
  const uint tile = flat_invocation() / (split == 16u ? 4u : 1u);
  if (tile >= tiles()) return;
  uint row, block, quad;
  if (y_layout == LAYOUT_4W4C) {  // blocks are the fastest
    const uint rest = over_blocks(tile);
    block = tile - rest * y_extent().blocks;
    row = over_columns(rest);
    quad = rest - row * tile_columns();
  } else {  // pixels are
    const uint rest = over_columns(tile);
    quad = tile - rest * tile_columns();
    row = over_blocks(rest);
    block = rest - row * y_extent().blocks;
  }
  if (upscale == 1u) {
    copy_quad(row, block, quad);
  } else if (upscale == 2u && split == 16u) {
    shuffle_word_by_2(row, block, quad * 4u + flat_invocation() % 4u);
  } else if (upscale == 2u && split > 1u) {
    shuffle_part_by_2(row, block, quad);
  } else if (upscale == 2u) {
    shuffle_tile_by_2(row, block, quad);
  } else {
    gather_quad(row, block, quad);
  }
}
