#include "harness/cases/fit_array.h"

#include "harness/base/error.h"
#include "harness/tensor/tensor.h"

#include <fmt/format.h>

#include <utility>

namespace assay {

namespace {

DType fitting_dtype(DType dtype, const TensorSpec& tensor) {
  const bool stays_double =
      dtype == DType::F64 && !tensor.is_input() && tensor.output_class == OutputClass::Bounded;
  return stays_double ? DType::F64 : tensor.dtype;
}

}  // namespace

void check_fit(DType dtype, const Shape& shape, const TensorSpec& tensor) {
  if (may_convert(dtype, fitting_dtype(dtype, tensor)) && same_but_for_ones(shape, tensor.shape)) return;
  throw Error(fmt::format("holds {} [{}], but '{}' is {} [{}]", name_of(dtype), to_string(shape), tensor.name,
                          name_of(tensor.dtype), to_string(tensor.shape)));
}

HostTensor fit_array(HostTensor array, const TensorSpec& tensor) {
  check_fit(array.dtype(), array.shape(), tensor);
  const DType wanted = fitting_dtype(array.dtype(), tensor);
  return converted(std::move(array), wanted, tensor.shape);
}

}  // namespace assay
