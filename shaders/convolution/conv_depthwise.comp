#version 450
#extension GL_GOOGLE_include_directive : require

// A depthwise convolution of int8 values: each channel of y is the same channel of x, convolved with its own kernel.
// An invocation computes ROWS x COLUMNS pixels of y, four channels of each: words of x that several of its pixels need
// are loaded and unpacked once. Invocations are counted in y's order, so that neighbours store neighbouring words.
//
// PRODUCTS        how products are summed: PRODUCTS_INTEGER: in int32; PRODUCTS_FLOAT: in float32, where the host
//                 knows that no sum reaches 2^24, so that every step is exact; PRODUCTS_DOT: by the dot product of
//                 four neighbouring values of a channel and four taps (linear/dot4x8.glslh)
// ROWS, COLUMNS   rows and columns of pixels of y, 1, 2, 4 or 8; OUTPUTS: their product, at most 8
// WORDS           words of x that are loaded at once, rounded up to 8, 16 or 32
// X_PAIRS         1: two words of x side by side along the width are one load: even columns have even places, and
//                 an invocation's windows begin at even columns of x, apart from the padding
// STORED          words of y that are stored at once, 1, 2 or 4: neighbours in memory, possibly padding of a row
// STORES          OUTPUTS / STORED
// ACTIVATION      see common/activation.glslh
// FIXED_POINT     1: y by multiplication and shift of integers (REQUANTIZERS_AT); 0: by float32 operations
//                 (W_SCALE_AT, and BIAS_AT where there is a bias)
// ROUNDS_TO_EVEN  see common/rounding.glslh

#include "common/activation.glslh"
#include "common/guards.glslh"
#include "common/packing.glslh"
#include "common/requantize.glslh"
#include "common/unroll.glslh"
#include "convolution/depthwise_numbers.glslh"
#include "linear/tables.glslh"

#define PRODUCTS_INTEGER 0
#define PRODUCTS_FLOAT 1
#define PRODUCTS_DOT 2
#if PRODUCTS == PRODUCTS_DOT
#include "common/int8x4.glslh"
#include "linear/dot4x8.glslh"
#endif
#if FIXED_POINT
#include "linear/fixed_point.glslh"
#endif

layout(constant_id = 4) const uint kernel_h = 1u;
layout(constant_id = 5) const uint kernel_w = 1u;
layout(constant_id = 6) const int stride_h = 1;
layout(constant_id = 7) const int stride_w = 1;
layout(constant_id = 8) const int padding_h = 0;
layout(constant_id = 9) const int padding_w = 0;
layout(constant_id = 10) const int dilation_h = 1;
layout(constant_id = 11) const int dilation_w = 1;
// Taps that are processed at once: all of the kernel's along an axis, or one of them.
layout(constant_id = 12) const uint taps_h = 1u;
layout(constant_id = 13) const uint taps_w = 1u;
// The window of x that these taps reach, for all outputs of the invocation: its rows and columns, and `apart`, the
// distance in x between two of them. `output_step` and `tap_step` are the distances in the window from one output to
// the next, and from one tap to the next.
layout(constant_id = 14) const uint window_h = 1u;
layout(constant_id = 15) const uint window_w = 1u;
layout(constant_id = 16) const int apart_h = 1;
layout(constant_id = 17) const int apart_w = 1;
layout(constant_id = 18) const int output_step_h = 1;
layout(constant_id = 19) const int output_step_w = 1;
layout(constant_id = 20) const int tap_step_h = 1;
layout(constant_id = 21) const int tap_step_w = 1;
// Whether places along w are a sum of two terms (4W4C); otherwise they are w times the second.
layout(constant_id = 22) const bool x_in_fours = false;
layout(constant_id = 23) const bool y_in_fours = false;

#if PRODUCTS == PRODUCTS_FLOAT
#define SUMS4 vec4
#define WEIGHTS4 vec4
#elif PRODUCTS == PRODUCTS_INTEGER
#define SUMS4 ivec4
#define WEIGHTS4 ivec4
#else
#define SUMS4 ivec4
#define WEIGHTS4 uvec4  // a row of the kernel: four taps of a channel in a word
#endif

#if X_PAIRS
layout(set = 0, binding = X_AT) restrict readonly buffer X { uvec2 x[]; };
#else
layout(set = 0, binding = X_AT) restrict readonly buffer X { uint x[]; };
#endif
layout(set = 0, binding = W_AT) restrict readonly buffer PackedW { WEIGHTS4 packed_w[]; };
#if STORED == 4
#define STORED_WORDS uvec4
#elif STORED == 2
#define STORED_WORDS uvec2
#else
#define STORED_WORDS uint
#endif
layout(set = 0, binding = Y_AT) restrict writeonly buffer Y { STORED_WORDS y[]; };

// --- places ----------------------------------------------------------------------------------------------------------
// The part of y that an invocation computes: its first pixel.
struct Part {
  uint n, quad;
  uint h, w;
};

Part part_of(uint number) {
  const uint all_columns = divide(number, push.by_inner);
  const uint all_outer = divide(all_columns, push.by_quads);
  const uint all_bands = divide(all_outer, push.by_outer);
  const uint n = divide(all_bands, push.by_bands);
  const uint inner = number - all_columns * push.inner;
  const uint outer = all_outer - all_bands * push.outer;
  return Part(n, all_columns - all_outer * push.quads, (all_bands - n * push.bands) * ROWS,
              (outer * push.inner + inner) * COLUMNS);
}

uint x_along_w(uint w) { return x_in_fours ? (w >> 2) * push.x.w_block + (w & 3u) * push.x.w_lane : w * push.x.w_lane; }

uint y_along_w(uint w) { return y_in_fours ? (w >> 2) * push.y.w_block + (w & 3u) * push.y.w_lane : w * push.y.w_lane; }

// --- the window ------------------------------------------------------------------------------------------------------
#if PRODUCTS == PRODUCTS_FLOAT
// Bytes become floats without a shift or a conversion: by the bits of a power of two plus the byte, where it lies in
// the word. The powers are computed from gl_NumWorkGroups.z, which is 1: from constants that it knows a compiler makes
// two instructions, from a register only one. Their lowest byte makes the signed bytes unsigned, increased by 128.
uint even_power, odd_power;
float even_less, odd_less;

void prepare_unpacking() {
  const uint one = gl_NumWorkGroups.z;
  even_power = one * 0x4b000080u;
  odd_power = one * 0x47008000u;
  even_less = 8388736.0 + float(push.x_zero_point);
  odd_less = 32896.0 + float(push.x_zero_point);
}

float even_byte(uint word) { return uintBitsToFloat((word & 0xffu) ^ even_power) - even_less; }

float odd_byte(uint word) { return uintBitsToFloat((word & 0xff00u) ^ odd_power) - odd_less; }

// The values of a word minus the zero point.
vec4 values_of(uint word) {
  const uint upper = word >> 16;
  return vec4(even_byte(word), odd_byte(word), even_byte(upper), odd_byte(upper));
}
#elif PRODUCTS == PRODUCTS_INTEGER
ivec4 values_of(uint word) { return unpack_signed_bytes(word) - push.x_zero_point; }
#endif

uint words[WORDS];
WEIGHTS4 weights[WORDS];
SUMS4 sums[OUTPUTS];

// Whether the window has a word i.
#define IS_OF_WINDOW(i) ((i) < window_h * window_w)
#define OFFSET_H(i) (int((i) / window_w) * apart_h)
#define OFFSET_W(i) (int((i) % window_w) * apart_w)
#define ROW_OF(i) (from.y + OFFSET_H(i))
#define COLUMN_OF(i) (from.x + OFFSET_W(i))

// Whether all places from `least` to `most` lie in x, so that none is clamped or replaced; known at compile time where
// numbers are built in.
bool are_inside(int least, int most, int size) { return least >= 0 && most < size; }
#define ROW_STAYS(i) are_inside(OFFSET_H(i) - padding_h, last_from.y + OFFSET_H(i), push.x_height)
#define COLUMN_STAYS(i) are_inside(OFFSET_W(i) - padding_w, last_from.x + OFFSET_W(i), push.x_width)
#define INSIDE_ROW(i) uint(ROW_STAYS(i) ? ROW_OF(i) : clamp(ROW_OF(i), 0, push.x_height - 1))
#define INSIDE_COLUMN(i) uint(COLUMN_STAYS(i) ? COLUMN_OF(i) : clamp(COLUMN_OF(i), 0, push.x_width - 1))
#define INSIDE_PAIR(i) uint(COLUMN_STAYS(i) ? COLUMN_OF(i) >> 1 : clamp(COLUMN_OF(i) >> 1, 0, (push.x_width - 1) >> 1))

// Loads do not check whether a word exists: a kernel would wait for each of them. Words from clamped places are
// replaced when all loads are in flight.
#if X_PAIRS
// An even column and the next one are one load. Windows begin at columns that are all even or all odd.
#define IS_ODD(i) ((((i) % window_w + uint(padding_w)) & 1u) != 0u)
// A product, because Mesa 22 creates no pipeline from a logical "and" of these constants.
#define COMES_WITH_ANOTHER(i) ((((i) % window_w + uint(padding_w)) & 1u) * ((i) % window_w) != 0u)
#define BRINGS_ANOTHER(i) (!IS_ODD(i) && (i) % window_w + 1u < window_w)
#define LOAD_WORD(i)                                                                 \
  if (IS_OF_WINDOW(i) && !COMES_WITH_ANOTHER(i)) {                                   \
    const uint row = INSIDE_ROW(i);                                                  \
    const uint pair = INSIDE_PAIR(i);                                                \
    const uvec2 both = x[(first_word + row * push.x.h + x_along_w(pair * 2u)) / 2u]; \
    words[i] = IS_ODD(i) ? both.y : both.x;                                          \
    if (BRINGS_ANOTHER(i)) words[min((i) + 1u, WORDS - 1u)] = both.y;                \
  }
#else
#define LOAD_WORD(i)                                               \
  if (IS_OF_WINDOW(i)) {                                           \
    const uint row = INSIDE_ROW(i);                                \
    const uint column = INSIDE_COLUMN(i);                          \
    words[i] = x[first_word + row * push.x.h + x_along_w(column)]; \
  }
#endif
#if PRODUCTS == PRODUCTS_DOT
#define LOAD_WEIGHT(i) \
  if ((i) < taps_h) weights[i] = packed_w[guard_words / 4u + (first_tap_h + (i)) * push.quads + part.quad];
#else
#define LOAD_WEIGHT(i)                                                                    \
  if ((i) < taps_h * taps_w) {                                                            \
    const uint at = (first_tap_h + (i) / taps_w) * kernel_w + first_tap_w + (i) % taps_w; \
    weights[i] = packed_w[guard_words / 4u + at * push.quads + part.quad];                \
  }
#endif
// Padding is real zero, that is x's zero point.
#define REPLACE_WORD(i)                                                                 \
  if (IS_OF_WINDOW(i)) {                                                                \
    const bool has_row = ROW_STAYS(i) || uint(ROW_OF(i)) < uint(push.x_height);         \
    const bool has_column = COLUMN_STAYS(i) || uint(COLUMN_OF(i)) < uint(push.x_width); \
    words[i] = has_row && has_column ? words[i] : zero_word;                            \
  }

// Whether the word meets a tap of an output along one axis; the output's first tap is `steps` of the window before the
// word.
bool meets(int steps, int tap_step, uint taps) {
  return steps >= 0 && steps % tap_step == 0 && uint(steps / tap_step) < taps;
}

// All of this is known at compile time: only multiplications and additions remain.
#define STEPS_H(i, o) (int((i) / window_w) - ((o) / COLUMNS) * output_step_h)
#define STEPS_W(i, o) (int((i) % window_w) - ((o) % COLUMNS) * output_step_w)
#define TAP_OF(i, o) (uint(STEPS_H(i, o) / tap_step_h) * taps_w + uint(STEPS_W(i, o) / tap_step_w))
#if PRODUCTS == PRODUCTS_DOT
ivec4 dots_of(uvec4 neighbours, uvec4 taps) {
  return ivec4(dot4x8(neighbours.x, taps.x), dot4x8(neighbours.y, taps.y), dot4x8(neighbours.z, taps.z),
               dot4x8(neighbours.w, taps.w));
}

// In kernels up to three wide two neighbouring outputs share four words of x: the second one's taps are shifted by a
// byte.
#define SHIFT_OF(o) (kernel_w < 4u && output_step_w == 1 ? ((o) % COLUMNS) & 1 : 0)
#define NEIGHBOUR(row, o, k) \
  words[min((row)*window_w + min(uint(((o) % COLUMNS) * output_step_w - SHIFT_OF(o) + k), window_w - 1u), WORDS - 1u)]
#define ADD_DOTS(o, row)                                                                                \
  if (meets(int(row) - ((o) / COLUMNS) * output_step_h, tap_step_h, taps_h)) {                          \
    const uint tap = min(uint((int(row) - ((o) / COLUMNS) * output_step_h) / tap_step_h), WORDS - 1u);  \
    const uvec4 neighbours = transpose_bytes(                                                           \
        uvec4(NEIGHBOUR(row, o, 0), NEIGHBOUR(row, o, 1), NEIGHBOUR(row, o, 2), NEIGHBOUR(row, o, 3))); \
    const uvec4 taps = weights[tap] << (8 * SHIFT_OF(o));                                               \
    sums[o] += dots_of(neighbours, taps);                                                               \
  }
#define ADD_PRODUCTS(row)              \
  if ((row) < window_h) {              \
    EACH_INNER(OUTPUTS, ADD_DOTS, row) \
  }
// Sums are of x, not of x minus its zero point.
#define ADD_ZEROS(i) \
  if ((i) < taps_h) zeros += dots4x8(zero_word, weights[i]);
#define SUBTRACT_ZEROS(o) sums[o] -= zeros;
#else
#define ADD_PRODUCT(o, i)                                                                   \
  if (meets(STEPS_H(i, o), tap_step_h, taps_h) && meets(STEPS_W(i, o), tap_step_w, taps_w)) \
    sums[o] += values * weights[min(TAP_OF(i, o), WORDS - 1u)];
#define ADD_PRODUCTS(i)                          \
  if (IS_OF_WINDOW(i)) {                         \
    const WEIGHTS4 values = values_of(words[i]); \
    EACH_INNER(OUTPUTS, ADD_PRODUCT, i)          \
  }
#endif

void add_taps(Part part, uint first_tap_h, uint first_tap_w) {
  const uint first_word = guard_words + part.n * push.x.n + part.quad * push.x.quad;
  const ivec2 from = ivec2(int(part.w) * stride_w - padding_w + int(first_tap_w) * dilation_w,
                           int(part.h) * stride_h - padding_h + int(first_tap_h) * dilation_h);
  // The place where the last window of the image begins, with its last taps.
  const ivec2 last = ivec2(int(push.outer * push.inner - 1u) * COLUMNS, int(push.bands - 1u) * ROWS);
  const ivec2 last_taps = ivec2((kernel_w - taps_w) * dilation_w, (kernel_h - taps_h) * dilation_h);
  ivec2 last_from = last * ivec2(stride_w, stride_h) - ivec2(padding_w, padding_h) + last_taps;
  // In 4W4C it may be past the row, and with huge strides too far away to be counted.
  if (float(last.x) * float(stride_w) > 1.5e9) last_from.x = push.x_width;
  const uint zero_word = uint(push.x_zero_point & 0xff) * 0x01010101u;
  EACH(WORDS, LOAD_WORD)
  EACH(WORDS, LOAD_WEIGHT)
  EACH(WORDS, REPLACE_WORD)
#if PRODUCTS == PRODUCTS_DOT
  ivec4 zeros = ivec4(0);
  EACH(8, ADD_ZEROS)
  EACH(OUTPUTS, SUBTRACT_ZEROS)
  EACH(8, ADD_PRODUCTS)
#else
  EACH(WORDS, ADD_PRODUCTS)
#endif
}

// --- from sums to y --------------------------------------------------------------------------------------------------
#if PRODUCTS == PRODUCTS_DOT
// Sums begin at the bits of 1.5 * 2^23, so that the low bits of that float hold what is added, and no conversion is
// needed. The host knows that no sum leaves the 22 bits there.
#define FIRST_SUM ivec4(0x4b400000)
ivec4 integers_of(ivec4 sums) { return sums - FIRST_SUM; }
vec4 integral_reals_of(ivec4 sums) { return intBitsToFloat(sums) - 12582912.0; }
#else
#define FIRST_SUM SUMS4(0)
ivec4 integers_of(SUMS4 sums) { return ivec4(sums); }
vec4 integral_reals_of(SUMS4 sums) { return vec4(sums); }
#endif

#if FIXED_POINT
struct Channels {
  ivec4 multipliers, shifts, biases;
};

Channels channels_of(uint quad) {
  return Channels(requantizers(0u, quad, push.quads), requantizers(1u, quad, push.quads),
                  requantizers(2u, quad, push.quads));
}

uint word_of(SUMS4 sum, Channels channels) {
  ivec4 integers = integers_of(sum) + channels.biases;
  for (uint i = 0u; i < 4u; ++i) {
#if RELU
    integers[i] = max(integers[i], 0);
#endif
    integers[i] = fixed_point(integers[i], channels.multipliers[i], channels.shifts[i], push.y_zero_point);
  }
  return pack_bytes(integers);
}
#else
struct Channels {
  vec4 scales;  // w_scale of the channels
#ifdef BIAS_AT
  vec4 biases;
#endif
};

Channels channels_of(uint quad) {
  Channels channels;
  channels.scales = w_scale(0u, quad, push.quads);
#ifdef BIAS_AT
  channels.biases = bias(0u, quad, push.quads);
#endif
  return channels;
}

void multiply_scales(inout Channels channels) {
  for (uint i = 0u; i < 4u; ++i) channels.scales[i] = product(push.x_scale, channels.scales[i]);
}

// Whether no step of these channels can be a NaN. Sums are below 2^31, so that nothing before the last product is
// infinite, and that product is not 0 times infinity.
bool are_tame(Channels channels) {
  bool tame = push.y_inverse_scale < 1e18 && all(lessThan(channels.scales, vec4(1e12)));
#ifdef BIAS_AT
  tame = tame && all(lessThan(abs(channels.biases), vec4(1e18)));
#endif
  return tame;
}

vec4 reals_of(SUMS4 sum_of_products, Channels channels) {
  const vec4 integers = integral_reals_of(sum_of_products);
  vec4 values;
  for (uint i = 0u; i < 4u; ++i) values[i] = product(integers[i], channels.scales[i]);
#ifdef BIAS_AT
  for (uint i = 0u; i < 4u; ++i) values[i] = sum(values[i], channels.biases[i]);
#endif
  return values;
}

// A relu needs no maximum: a negative value ends below the zero point and is clamped to it.
uint tame_word_of(SUMS4 sum, Channels channels) {
#if RELU
  const float low = 0.0;
#else
  const float low = float(-128 - push.y_zero_point);
#endif
  vec4 reals = reals_of(sum, channels);
#if ACTIVATES_REALS
  for (uint i = 0u; i < 4u; ++i) reals[i] = activated(reals[i]);
#endif
  return quantized_word(reals, push.y_inverse_scale, push.y_zero_point, low, float(127 - push.y_zero_point));
}

// The word of y where a step may be a NaN, which gives the zero point.
uint word_of(SUMS4 sum, Channels channels) {
  const vec4 reals = reals_of(sum, channels);
  ivec4 integers;
  for (uint i = 0u; i < 4u; ++i) {
    const float real = activated(reals[i]);
    integers[i] =
        int(rounded_and_clamped(product(real, push.y_inverse_scale), 0.0, float(push.y_zero_point), -128.0, 127.0));
  }
  return pack_bytes(integers);
}
#endif

void store(Part part, uint first, STORED_WORDS stored) {
  const uint h = part.h + first / uint(COLUMNS), w = part.w + first % uint(COLUMNS);
  if (h >= push.y_height || w >= push.y_width) return;
  const uint word = guard_words + part.n * push.y.n + part.quad * push.y.quad + h * push.y.h + y_along_w(w);
  y[word / uint(STORED)] = stored;
}

#if STORED == 4
#define STORED_OF(WORD, o) uvec4(WORD(o), WORD(o + 1), WORD(o + 2), WORD(o + 3))
#elif STORED == 2
#define STORED_OF(WORD, o) uvec2(WORD(o), WORD(o + 1))
#else
#define STORED_OF(WORD, o) WORD(o)
#endif
#define WORD_OF(o) word_of(sums[o], channels)
#define TAME_WORD_OF(o) tame_word_of(sums[o], channels)
#define CLEAR(o) sums[o] = FIRST_SUM;
#define STORE(i) store(part, i* STORED, STORED_OF(WORD_OF, i* STORED));
#define STORE_TAME(i) store(part, i* STORED, STORED_OF(TAME_WORD_OF, i* STORED));

void main() {
  push = numbers();
  const uint number = flat_invocation();
  if (number >= push.count) return;
#if PRODUCTS == PRODUCTS_FLOAT
  prepare_unpacking();
#endif
  const Part part = part_of(number);
  Channels channels = channels_of(part.quad);  // loaded early: in flight while products are added
  EACH(OUTPUTS, CLEAR)
  for (uint h = 0u; h < kernel_h; h += taps_h) {
    for (uint w = 0u; w < kernel_w; w += taps_w) add_taps(part, h, w);
  }
#if FIXED_POINT
  EACH(STORES, STORE)
#else
  multiply_scales(channels);
  if (are_tame(channels)) {
    EACH(STORES, STORE_TAME)
  } else {
    EACH(STORES, STORE)
  }
#endif
}
