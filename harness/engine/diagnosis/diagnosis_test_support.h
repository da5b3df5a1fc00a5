#pragma once

#include "harness/engine/diagnosis/evidence.h"

#include <cstdint>
#include <functional>
#include <vector>

// An op small enough to be reasoned about, and wrong outputs of it.

namespace assay::test {

/// q[i, j] = clamp(roundEven(x[i, j] / scale[i] + zero_point[i]), -128, 127): f32 to i8, one block per row.
const Op& row_quantize_op();
/// y[m, n] = sum over k of x[m, k] * w[n, k] + bias[n]: f32.
const Op& product_op();

/// y[r, c] = (nibble c of w[r, c / 2], the low one first, - 8) * scale[r, c / 8]: u8 and f32 to f32.
const Op& nibble_table_op();

/// y[h, w] = sum over a and b in 0, 1 of x[h - top + a, w - left + b], 0 outside of x: f32, [1, 1, H, W].
const Op& box_op();

/// A case of an op whose inputs all differ, and an answer that tests can make wrong.
class Wronged {
 public:
  Wronged(const Op& op, Params params);

  /// Makes the answer the reference's for changed parameters or inputs, as if the kernel used those.
  Wronged& answer_of(const std::function<void(Point&)>& change);
  /// Sets the answer element by element from the expected values.
  Wronged& answer_by(const std::function<double(std::int64_t)>& value_of);

  const Case& test_case() const { return case_; }
  const std::vector<HostTensor>& inputs() const { return inputs_; }
  const HostTensor& expected() const { return expected_; }
  double expected(std::int64_t i) const { return expected_.at(i); }
  ReferenceProbe probe(double budget = ReferenceProbe::default_budget) const {
    return {case_, inputs_, 0, budget};
  }
  /// The wrong output: every element that differs is wrong. `is_unwritten` is as in WrongOutput.
  WrongOutput output(std::function<bool(std::int64_t)> is_unwritten = {}) const;

 private:
  Case case_;
  std::vector<HostTensor> inputs_;
  HostTensor expected_, got_;
};

/// Parameters of row_quantize_op() with that many rows and columns.
Params row_params(std::int64_t rows, std::int64_t columns);
/// Of box_op(); `padding` is [h, w] or [top, left, bottom, right].
Params box_params(std::int64_t height, std::int64_t width, const std::vector<std::int64_t>& padding);
Params product_params(std::int64_t m, std::int64_t k, std::int64_t n);

/// The input of a case by its tensor's name.
HostTensor& input(const Wronged& wronged, Point& point, const char* name);

}  // namespace assay::test
