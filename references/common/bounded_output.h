#pragma once

#include "harness/op/expected.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/shape.h"

#include <cstdint>
#include <utility>

namespace assay::references {

/// A bounded output (f32 or f16) of an op that computes in real arithmetic. Its values are float64, so that a
/// bound need not include the reference's own rounding, and each has a magnitude. Float16 stores may be off
/// by 1 ulp more.
class BoundedOutput {
 public:
  BoundedOutput(DType dtype, const Shape& shape);

  /// Sets one element. A value that the dtype cannot hold becomes the infinity that it rounds to. An infinite
  /// or NaN value has the magnitude 0, so that nothing else is accepted. Other magnitudes are never below
  /// 2^-90 (what a step flushes to zero lies below the unit error times that), nor above what a float32
  /// holds.
  void set(std::int64_t index, double value, double magnitude);

  Expected take() { return std::move(expected_); }

 private:
  DType dtype_;
  Expected expected_;
};

}  // namespace assay::references
