#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "references/convolution/convolution.h"

#include <cstdint>

// A convolution as a product: shaders/linear/x_gathered.glslh and pixels.glslh.

namespace assay::ops {

/// How kernels read x of a convolution of int8 values, which lies in words of four channels, as the rows of a
/// product; or of halves, two channels to a word (of_halves()). There is one row per pixel of y; along K it
/// has, for each tap, the words that hold the channels of a group.
///
/// A group of the product is one group of the convolution, or several together so that each has whole words
/// of output channels. Weights of channels that belong to another group are 0.
struct Gathering {
  references::Convolution conv;
  std::int64_t groups = 1;
  std::int64_t channels_of_group = 0;  ///< channels of x; the last group may have fewer
  std::int64_t outputs_of_group =
      0;                       ///< whole words, unless there is one group; the last group may have fewer
  std::int64_t tap_words = 0;  ///< words per tap, enough for the channels of any group

  explicit Gathering(const references::Convolution& convolution);
  /// The gathering that reads what shaders/convolution/conv_im2col.comp made for `gathering`: images of the
  /// size of y, whose channels are, group by group, `depth` values along K.
  static Gathering of_columns(const Gathering& gathering, std::int64_t depth);
  /// The gathering that reads half floats, each as two bytes; see bytes_of_halves().
  static Gathering of_halves(const references::Convolution& convolution);

  std::int64_t words() const { return conv.taps() * tap_words; }  ///< along K
  std::int64_t depth() const { return 4 * words(); }              ///< values along K
  /// The number of tiles of `columns` output channels, each of which lies in one group.
  std::int64_t tiles(std::int64_t columns) const;
  /// The first channel of x in the words of a group.
  std::int64_t first_channel(std::int64_t group) const { return group * channels_of_group / 4 * 4; }
  /// Whether kernels may load four words along K at once.
  bool has_units(const Physical& x) const;
};

/// Images of half floats in a buffer/CP, whose channels come in eights, as images of bytes.
Physical bytes_of_halves(const Physical& x);

/// Gives `dispatch`, which reads x, the #defines and constants of x_gathered.glslh. `by_units`: it reads x as
/// an array of units of 16 bytes.
void add_gathering(Dispatch& dispatch, const Gathering& gathering, const Physical& x, bool by_units);

/// Gives `dispatch`, which reads x, real images, the #defines and constants of x_images.glslh.
void add_real_images(Dispatch& dispatch, const Gathering& gathering, const Physical& x);

/// Gives `dispatch`, whose shader includes tiles.glslh, the groups of output channels in tiles of `columns`
/// channels.
void add_channel_groups(Dispatch& dispatch, const Gathering& gathering, std::int64_t columns);

/// The value of Y_LAYOUT of shaders/linear/y.glslh for images in this form.
const char* y_layout_of_images(const Physical& y);

/// Gives `dispatch`, which stores y, the constants of pixels.glslh, where its Y_LAYOUT needs them or
/// `gathers` is set.
void add_pixels(Dispatch& dispatch, const Physical& y, bool gathers);

}  // namespace assay::ops
