#pragma once

// Random points that tests of ops over the affine kernels run on the device.

#include "tests/support/on_device.h"

#include <string>
#include <vector>

namespace assay::test {

/// Forms for a list of tensors: `form` for the first and the last, the default form for those between them.
std::vector<Form> forms_of(std::size_t tensors, Form form);

/// Draws random points that an op over the affine kernels accepts.
class AffinePoints : public Draw {
 public:
  using Draw::Draw;

  Params params(const Op& op);
  /// Input and output in the same form: a buffer, or a texture that can hold them.
  std::vector<Form> one_form(std::span<const TensorSpec> tensors);

 private:
  /// Sets what decides which elements share a scale: a block size, an axis, or nothing where the op's name
  /// does.
  void set_blocks(Params& params, const Op& op);
  void set_range(Params& params);
};

class AffinePointsTest : public OnDeviceTest {
 protected:
  /// Runs `count` random points of the op called `name`.
  void try_points(const std::string& name, int count, std::uint32_t seed);
};

}  // namespace assay::test
