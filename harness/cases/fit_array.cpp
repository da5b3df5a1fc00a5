#include "harness/cases/fit_array.h"

#include "harness/base/error.h"
#include "harness/tensor/convert.h"

#include <fmt/format.h>

#include <utility>

namespace assay {

HostTensor fit_array(HostTensor array, const TensorSpec& tensor) {
  const bool stays_double =
      array.dtype() == DType::F64 && !tensor.is_input() && tensor.output_class == OutputClass::Bounded;
  const DType wanted = stays_double ? DType::F64 : tensor.dtype;
  if (!may_convert(array.dtype(), wanted) || !same_but_for_ones(array.shape(), tensor.shape)) {
    throw Error(fmt::format("holds {} [{}], but '{}' is {} [{}]", name_of(array.dtype()),
                            to_string(array.shape()), tensor.name, name_of(tensor.dtype),
                            to_string(tensor.shape)));
  }
  return converted(std::move(array), wanted, tensor.shape);
}

}  // namespace assay
