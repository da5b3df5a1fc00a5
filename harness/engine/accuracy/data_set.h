#pragma once

#include "harness/cases/case.h"
#include "harness/engine/accuracy/answer_cache.h"
#include "harness/op/expected.h"
#include "harness/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// The outputs of a case, in order. Runs whose outputs are bitwise equal share them.
using Answer = std::shared_ptr<const std::vector<HostTensor>>;

inline bool same_answer(const Answer& a, const Answer& b) {
  return a == b || same_bytes(*a, *b);
}

/// The inputs of a group of cases and the reference's outputs for them: computed once, shared by all impls
/// and forms.
struct DataSet {
  std::vector<HostTensor> inputs;  ///< in the order of the op's input tensors
  std::string input_hash;
  std::vector<Expected> expected;  ///< the reference's, in the order of the op's output tensors
  /// For each output the values of the case's `expected:` file, if there is one; they replace the
  /// reference's.
  std::vector<std::optional<HostTensor>> from_files;
  double reference_ms = 0;  ///< time of this run's reference; short when the answers came from the cache

  /// The values that an output is compared with.
  const HostTensor& wanted(std::size_t output) const {
    return from_files[output] ? *from_files[output] : expected[output].values;
  }
};

/// Fills (or reads) the inputs of `test_case` and runs its op's reference, or takes its answers from
/// `answers`. Throws Error when a file cannot be read, std::logic_error when the reference's outputs differ
/// from what the op declares: another dtype or shape, or missing values that the class of an output needs.
DataSet make_data_set(const Case& test_case, const AnswerCache* answers = nullptr);

/// Whether a case can be checked on data of another seed: some input is drawn at random that is no output's
/// content before (is_data_before_part), and no `expected:` file gives the outputs.
bool has_secret_data(const Case& test_case);

/// Makes a data set from a seed that was unknown when the case and its shaders were written: a mix of
/// `secret`, the case's own seed and `which`, with the case's fills. What outputs that are written in part
/// begin with is that of the case's own data. Answers are not cached, because no other
/// run needs them.
DataSet make_secret_data_set(const Case& test_case, std::uint64_t secret, std::size_t which = 0);

/// The outputs among the case's tensors, in their order.
std::vector<const TensorSpec*> output_specs(const Case& test_case);

/// The input, among those of the case, whose data an output with TensorSpec::starts_as begins with.
const HostTensor& data_before(const Case& test_case, const TensorSpec& output,
                              std::span<const HostTensor> inputs);

}  // namespace assay
