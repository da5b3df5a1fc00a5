#pragma once

#include "harness/tensor/fill/fill.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

// Helpers shared by the tests of fills.

namespace assay::test {

inline constexpr FillKind all_kinds[] = {FillKind::Normal,   FillKind::Uniform, FillKind::Ties,
                                         FillKind::Saturate, FillKind::Wide,    FillKind::Constant,
                                         FillKind::Zero,     FillKind::Outlier, FillKind::Special,
                                         FillKind::Mixed,    FillKind::Nan,     FillKind::Ends};
inline constexpr DType integer_dtypes[] = {DType::I32, DType::I16, DType::I8, DType::U8};
inline constexpr DType float_dtypes[] = {DType::F32, DType::F16};

inline constexpr DataKey key{11, 22, 1};

inline HostTensor filled(DType dtype, FillKind kind, FillDomain domain = {}, std::int64_t count = 20000) {
  return make_filled(dtype, {count}, {.kind = kind}, domain, key);
}

inline std::vector<double> values(const HostTensor& tensor) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) result.push_back(tensor.at(i));
  return result;
}

inline std::vector<double> values(DType dtype, FillKind kind, FillDomain domain = {},
                                  std::int64_t count = 20000) {
  return values(filled(dtype, kind, domain, count));
}

template <class Predicate>
double share(const std::vector<double>& all, Predicate predicate) {
  return static_cast<double>(std::ranges::count_if(all, predicate)) / static_cast<double>(all.size());
}

inline double mean(const std::vector<double>& all) {
  double sum = 0;
  for (const double value : all) sum += value;
  return sum / static_cast<double>(all.size());
}

inline double deviation(const std::vector<double>& all) {
  const double center = mean(all);
  double sum = 0;
  for (const double value : all) sum += (value - center) * (value - center);
  return std::sqrt(sum / static_cast<double>(all.size()));
}

}  // namespace assay::test
