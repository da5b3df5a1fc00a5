#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "ops/common/tensor_at.h"
#include "ops/linear/gathering.h"
#include "references/convolution/convolution.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

// A convolution as a linear op: the pixels of y are rows, and the values that its taps reach lie along K.

namespace assay::ops {

/// The point of the linear op whose program computes the convolution of a point: y[pixels, OC] from x[pixels,
/// depth] and w[OC, depth], with the convolution's w_scale, bias and y. Its parameters are those of
/// q8ta_linear, its tunables the convolution's.
class LinearPoint {
 public:
  /// `x` is the convolution's x, or a tensor made from it. `depth`: values along K.
  LinearPoint(const ImplPoint& convolution, const Physical& x, std::int64_t depth, Tune tune);

  /// Makes x and y `rows` rows in this layout from now on, instead of images.
  void set_rows(std::int64_t rows, Layout layout);

  ImplPoint point() const { return {params_, tensors_, forms_, tune_}; }
  BuildContext on(const DeviceInfo& device) const { return {point(), device}; }
  /// The resources of point()'s tensors in the convolution's program, given x and w.
  std::vector<Resource> resources(Resource x, Resource w) const;

 private:
  Params params_;
  std::vector<TensorSpec> tensors_;
  std::vector<Form> forms_;
  Tune tune_;
};

/// x as int8 values in words of four channels: the op's own x, or scratch (4C) that a dispatch fills with the
/// quantized x.
TensorAt integer_images(Program& program, const BuildContext& context);
/// Why kernels that gather integer_images() cannot take this point, or nothing.
std::optional<std::string> integer_images_invalid_reason(const ImplPoint& point);
/// The form of integer_images(), without a program.
Physical integer_images_form(const ImplPoint& point);

/// Gives `product`, whose invocations compute `pixels` neighbours along the width of y by `columns` output
/// channels, the #define PIXELS, the constants kernel_height and columns_of_row, and a grid.
void set_pixel_grid(Dispatch& product, const BuildContext& context, const Gathering& gathering,
                    std::int64_t pixels, std::int64_t columns);

/// Appends scratch and the setup dispatch that lays the op's weights out as rows along K, i8 [OC, depth]: the
/// words of channels of each tap of `gathering`, then zeros.
Resource weight_rows(Program& program, const BuildContext& context, const Gathering& gathering,
                     std::int64_t depth);

}  // namespace assay::ops
