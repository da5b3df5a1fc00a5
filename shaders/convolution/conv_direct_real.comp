#version 450
#extension GL_GOOGLE_include_directive : require

// A convolution of real values by int8 weights: an invocation computes PIXELS neighbours along the width of y by four
// output channels.
//
// PIXELS         1, 2, 4 or 8
// SHARED_GROUP   1: four output channels read the same quads of channels, and all of these; 0: each of them checks
//                which ones are its group's
// X_*, W_*, Y_*, SUMS, ...: see the included files

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/unroll.glslh"

layout(constant_id = 4) const uint kernel_height = 1u;
layout(constant_id = 5) const uint columns_of_row = 1u;  // invocations along a row of y
#if !SHARED_GROUP
layout(constant_id = 6) const uint inputs_of_group = 1u;  // channels of a group of the convolution
layout(constant_id = 7) const uint outputs_of_group = 1u;
#endif

#include "linear/numbers.glslh"
#include "linear/tiles.glslh"
#include "linear/weights.glslh"
#include "linear/y.glslh"
#include "linear/x_images.glslh"

vec4 sums[PIXELS];
Corner corners[PIXELS];

#if SHARED_GROUP
vec4 of_group(vec4 values, uint word, uint channel) { return values; }
#else
// An infinity of another group, times a weight of 0, would be a NaN.
vec4 of_group(vec4 values, uint word, uint channel) {
  const uvec4 groups = (word * 4u + uvec4(0u, 1u, 2u, 3u)) / inputs_of_group;
  return mix(vec4(0.0), values, equal(groups, uvec4(channel / outputs_of_group)));
}
#endif

#define FIND_CORNER(i) corners[i] = corner_of(first_slot + (i));
#define ADD_PLACE(i)                                                                                       \
  {                                                                                                        \
    const vec4 values = met_channels(corners[i], place);                                                   \
    for (uint o = 0u; o < 4u; ++o)                                                                         \
      sums[i][o] += dot(of_group(values, place.word, quad * 4u + o), vec4(unpack_signed_bytes(block[o]))); \
  }
#define CLEAR_SUM(i) sums[i] = vec4(0.0);
#define STORE(i)                                                                                           \
  store(sums[i], channels_of_y, Row(0u, first_slot + (i), first_slot + (i), first_column + (i) < y_width), \
        first_slot + (i));

void main() {
  push = numbers();
  const uint number = flat_invocation();
  const uint rows = push.slots / y_width;
  const uint column = number % columns_of_row;
  const uint row = number / columns_of_row % rows;
  uint quad = number / columns_of_row / rows;
#if CHANNEL_GROUPS
  channel_group = quad / tiles_of_group;
  end_of_quads = min((channel_group + 1u) * quads_of_group, push.quads);
#endif
  if (quad >= push.quads) return;
  const uint first_column = column * PIXELS;
  const uint first_slot = row * y_width + first_column;
  EACH(PIXELS, FIND_CORNER)
  EACH(PIXELS, CLEAR_SUM)
  const uint words = kernel_height * kernel_width * tap_words;
  for (uint word = 0u; word < words; ++word) {
    const Place place = place_of(word, channel_group);
    const uvec4 block = w_block(quad, word, push.blocks);
    EACH(PIXELS, ADD_PLACE)
  }
  const Channels channels_of_y = channels_of(quad);
  EACH(PIXELS, STORE)
}
