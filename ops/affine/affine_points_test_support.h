#pragma once

// What the tests of ops over the affine kernels share: random points, run on the device.

#include "tests/support/on_device.h"

#include <string>
#include <vector>

namespace assay::test {

/// `form` for input and output, the default for what lies between them.
std::vector<Form> forms_of(std::size_t tensors, Form form);

/// Draws points of what an op over the affine kernels accepts.
class AffinePoints : public Draw {
 public:
  using Draw::Draw;

  Params params(const Op& op);
  /// Input and output in one form: a buffer, or a texture that can hold them.
  std::vector<Form> one_form(std::span<const TensorSpec> tensors);

 private:
  /// What says which elements share a scale: a block size, an axis, or the op's name alone.
  void set_blocks(Params& params, const Op& op);
  void set_range(Params& params);
};

class AffinePointsTest : public OnDeviceTest {
 protected:
  /// Runs `count` random points of the op of this name.
  void try_points(const std::string& name, int count, std::uint32_t seed);
};

}  // namespace assay::test
