#version 450
#extension GL_GOOGLE_include_directive : require

// A convolution of int8 values: an invocation computes PIXELS neighbours along the width of y by 4 * COLUMN_QUADS
// output channels. It uses each value of x for all of these channels, and each weight for all of these pixels.
//
// PIXELS        1, 2, 4 or 8
// COLUMN_QUADS  1 or 2; SUMS_OF_INVOCATION: their product
// ALIGNED       1: x is in 4W4C, and four pixels of y read the same four of x: one load has a word of each (PIXELS 4)
// DOT           see linear/dot4x8.glslh
// X_*, W_*, Y_*, SUMS, ...: see the included files

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/unroll.glslh"

layout(constant_id = 4) const uint kernel_height = 1u;
layout(constant_id = 5) const uint columns_of_row = 1u;  // invocations along a row of y

#include "linear/numbers.glslh"
#include "linear/tiles.glslh"
#include "linear/dot4x8.glslh"
#include "linear/weights.glslh"
#include "linear/y.glslh"
#include "linear/x_gathered.glslh"

// Indexed by constants only: arrays indexed by counters of two loops would lie in memory.
ivec4 sums[PIXELS * COLUMN_QUADS];
uint places[PIXELS];  // places in x of the tap's first word
uint outside[PIXELS];
uint words[PIXELS];
Corner corners[PIXELS];

#define FIND_CORNER(i) corners[i] = corner_of(first_slot + (i));
#define FIND_PLACE(i)                              \
  places[i] = x_place(corners[i], tap, is_inside); \
  outside[i] = is_inside ? 0u : 0xffffffffu;
#define LOAD_WORD(i) words[i] = x[guard_words + places[i] + word * x_of_word];
#define KEEP_WORD(i) words[i] = (words[i] & ~outside[i]) | (outside[i] & word_of_zeros());
#define ADD_WORD_0(i) sums[(i)*COLUMN_QUADS] += dots4x8(words[i], block_0);
#define ADD_WORD_1(i) sums[(i)*COLUMN_QUADS + 1] += dots4x8(words[i], block_1);
#define CLEAR_SUM(i) sums[i] = ivec4(0);

uint existing(uint quad) { return min(quad, push.quads - 1u); }

void add_word(uint block, uint quad) {
  const uvec4 block_0 = w_block(existing(quad), block, push.blocks);
#if COLUMN_QUADS == 2
  const uvec4 block_1 = w_block(existing(quad + 1u), block, push.blocks);
#endif
  EACH(PIXELS, ADD_WORD_0)
#if COLUMN_QUADS == 2
  EACH(PIXELS, ADD_WORD_1)
#endif
}

#if ALIGNED
// Adds the products of one tap, which lies inside.
void add_taps(uint first_slot, uint quad) {
  bool is_inside;
  const uint first = x_place(corner_of(first_slot), place_of(0u, channel_group), is_inside) / 4u;
  for (uint word = 0u; word < tap_words; ++word) {
    const uvec4 loaded = x[guard_words / 4u + first + word * x_of_word / 4u];
    words[0] = loaded.x;
    words[1] = loaded.y;
    words[2] = loaded.z;
    words[3] = loaded.w;
    add_word(word, quad);
  }
}
#else
void add_taps(uint first_slot, uint quad) {
  EACH(PIXELS, FIND_CORNER)
  const uint taps = kernel_height * kernel_width;
  for (uint number = 0u; number < taps; ++number) {
    const Place tap = place_of(number * tap_words, channel_group);
    bool is_inside;
    EACH(PIXELS, FIND_PLACE)
    // The last group may have fewer words than the others.
    const uint last_word = words_of_pixel - 1u - tap.word;
    for (uint i = 0u; i < tap_words; ++i) {
      const uint word = min(i, last_word);
      EACH(PIXELS, LOAD_WORD)
      EACH(PIXELS, KEEP_WORD)
      add_word(number * tap_words + i, quad);
    }
  }
}
#endif

#define STORE(i, column)                                                                       \
  {                                                                                            \
    const Row row = Row(0u, first_slot + (i), first_slot + (i), first_column + (i) < y_width); \
    store(sums[(i)*COLUMN_QUADS + column], channels_##column, row, first_slot + (i));          \
  }
#define STORE_OF_0(i) STORE(i, 0)
#define STORE_OF_1(i) STORE(i, 1)

void main() {
  push = numbers();
  const uint number = flat_invocation();
  const uint rows = push.slots / y_width;
  const uint column = number % columns_of_row;
  const uint row = number / columns_of_row % rows;
  const uint quads = number / columns_of_row / rows;  // quads of channels before this one
#if CHANNEL_GROUPS
  channel_group = quads / tiles_of_group;
  end_of_quads = min((channel_group + 1u) * quads_of_group, push.quads);
  const uint quad = channel_group * quads_of_group + (quads - channel_group * tiles_of_group) * COLUMN_QUADS;
#else
  const uint quad = quads * COLUMN_QUADS;
#endif
  if (quad >= push.quads) return;
  const uint first_column = column * PIXELS;
  const uint first_slot = row * y_width + first_column;
  EACH(SUMS_OF_INVOCATION, CLEAR_SUM)
  add_taps(first_slot, quad);
  const Channels channels_0 = channels_of(quad);
  EACH(PIXELS, STORE_OF_0)
#if COLUMN_QUADS == 2
  const Channels channels_1 = channels_of(quad + 1u);
  EACH(PIXELS, STORE_OF_1)
#endif
}
