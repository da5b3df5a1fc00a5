#include "harness/tensor/float_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {

double absolute_error(double expected, double got) {
  if (std::isnan(expected) && std::isnan(got)) return 0;
  if (expected == got) return 0;
  const double error = std::fabs(got - expected);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

double unit_in_last_place(DType dtype, double value) {
  if (!std::isfinite(value) || !is_float(dtype)) return 0;
  const int digits = dtype == DType::F16 ? 11 : dtype == DType::F32 ? 24 : 53;
  const int smallest = dtype == DType::F16 ? -24 : dtype == DType::F32 ? -149 : -1074;
  int exponent = 0;  // |value| < 2^exponent
  std::frexp(value, &exponent);
  return value == 0 ? std::ldexp(1, smallest) : std::ldexp(1, std::max(exponent - digits, smallest));
}

}  // namespace assay
