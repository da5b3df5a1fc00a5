#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "ops/common/tensor_at.h"
#include "ops/linear/gathering.h"
#include "references/convolution.h"

#include <span>
#include <vector>

// A convolution as the linear op that it is: its pixels are rows, what its taps reach lies along K.

namespace assay::ops {

/// The point of the linear op whose program computes the convolution of a point: y[pixels, OC] of
/// x[pixels, depth] and w[OC, depth], with the convolution's w_scale, bias and y. Parameters are those of
/// q8ta_linear; tunables are the convolution's.
class LinearPoint {
 public:
  /// x is `x` of the convolution, or what has been made of it. `depth`: values along K.
  LinearPoint(const ImplPoint& convolution, const Physical& x, std::int64_t depth, Tune tune);

  /// From now on x and y are `rows` rows in this layout, instead of images.
  void set_rows(std::int64_t rows, Layout layout);

  ImplPoint point() const { return {params_, tensors_, forms_, tune_}; }
  BuildContext on(const DeviceInfo& device) const { return {point(), device}; }
  /// What the tensors of point() are in the convolution's program.
  std::vector<Resource> resources(Resource x, Resource w) const;

 private:
  Params params_;
  std::vector<TensorSpec> tensors_;
  std::vector<Form> forms_;
  Tune tune_;
};

/// x of int8 values in words of channels: the op's own, or scratch (4C) and the dispatch that quantizes it.
TensorAt integer_images(Program& program, const BuildContext& context);
/// Where it will lie, without a program.
Physical integer_images_form(const ImplPoint& point);

/// Gives `product`, whose invocations compute `pixels` neighbours along the width of y by `columns` output
/// channels, PIXELS, kernel_height, columns_of_row and a grid.
void set_pixel_grid(Dispatch& product, const BuildContext& context, const Gathering& gathering,
                    std::int64_t pixels, std::int64_t columns);

/// Appends scratch and the setup dispatch that lays the op's weights out as rows along K, i8 [OC, depth]:
/// for each tap of `gathering` its words of channels, then zeros.
Resource weight_rows(Program& program, const BuildContext& context, const Gathering& gathering,
                     std::int64_t depth);

}  // namespace assay::ops
