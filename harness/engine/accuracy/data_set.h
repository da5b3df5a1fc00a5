#pragma once

#include "harness/cases/case.h"
#include "harness/engine/accuracy/answer_cache.h"
#include "harness/op/expected.h"
#include "harness/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// The inputs of a group of cases and what the reference makes of them: computed once, shared by all
/// impls and forms.
struct DataSet {
  std::vector<HostTensor> inputs;  ///< in the order of the op's input tensors
  std::string input_hash;
  std::vector<Expected> expected;  ///< of the reference, in the order of the op's output tensors
  /// Of each output, the values of the case's `expected:` file, which are judged in place of the reference's.
  std::vector<std::optional<HostTensor>> from_files;
  double reference_ms = 0;  ///< what it took now: little when the answers were kept

  /// What an output is compared with.
  const HostTensor& wanted(std::size_t output) const {
    return from_files[output] ? *from_files[output] : expected[output].values;
  }
};

/// Fills (or reads) the inputs of `test_case` and runs its op's reference, or takes its answers from
/// `answers`. Throws Error when a file cannot be read, std::logic_error when what the reference gives is not
/// what the op declares: of another dtype or shape, or without what the class of an output needs.
DataSet make_data_set(const Case& test_case, const AnswerCache* answers = nullptr);

/// Whether data of another seed are other data, and what they give can be judged: some input is drawn at
/// random, and no file says what is expected.
bool has_secret_data(const Case& test_case);

/// The same of a seed that nobody knew when the case was written and its shaders were: made of `secret` and
/// the case's own, by the case's fills. Answers are not kept, as nobody asks for them again.
DataSet make_secret_data_set(const Case& test_case, std::uint64_t secret);

/// The outputs among the case's tensors, in their order.
std::vector<const TensorSpec*> output_specs(const Case& test_case);

}  // namespace assay
