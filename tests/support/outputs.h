#pragma once

#include "harness/engine/accuracy/output_check.h"
#include "tests/support/tensors.h"

#include <string>
#include <utility>
#include <vector>

// Outputs of each class in a line: what an op declares together with what its reference gives.

namespace assay::test {

struct Output {
  TensorSpec spec;
  Expected expected;

  /// Refers to this output.
  Acceptance accepting(const AcceptanceTerms& terms = {}) const { return {spec, expected, terms}; }
};

inline Output output_of(OutputClass output_class, Expected expected) {
  TensorSpec spec{.name = "y",
                  .role = TensorSpec::Role::Output,
                  .dtype = expected.values.dtype(),
                  .shape = expected.values.shape(),
                  .output_class = output_class};
  return {std::move(spec), std::move(expected)};
}

inline Output exact_output(HostTensor values) {
  return output_of(OutputClass::Exact, {.values = std::move(values)});
}

inline Output bounded_output(HostTensor values, std::vector<float> bound) {
  return output_of(OutputClass::Bounded, {.values = std::move(values), .bound = std::move(bound)});
}

inline Output banded_output(HostTensor values, std::vector<double> unrounded, std::vector<float> magnitude) {
  return output_of(
      OutputClass::Banded,
      {.values = std::move(values), .magnitude = std::move(magnitude), .unrounded = std::move(unrounded)});
}

}  // namespace assay::test
