#include "harness/engine/accuracy/data_set.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/hash.h"
#include "harness/cases/fit_array.h"
#include "harness/op/data_text.h"
#include "harness/op/op.h"
#include "harness/tensor/npy/array_file.h"
#include "harness/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

/// `doing` says what the file is for: "filling 'x'".
HostTensor read_tensor(const TensorSpec& spec, const ArrayFile& file, const std::string& doing) {
  HostTensor array = read_array(file);
  try {
    return fit_array(std::move(array), spec);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {} {}", doing, to_string(file), error.what()));
  }
}

/// What outputs that are written in part begin with is drawn from the case's own seed whatever the data set:
/// data sets share the memory of outputs.
std::vector<HostTensor> make_inputs(const Case& test_case, std::uint64_t seed) {
  const std::uint64_t key = hash64(test_case.op->name + "\n" + data_text(*test_case.op, *test_case.params));
  std::vector<HostTensor> inputs;
  for (std::size_t i = 0; i < test_case.tensors->size(); ++i) {
    const TensorSpec& spec = test_case.tensors[i];
    if (!spec.is_input()) continue;
    const FillSpec& fill = test_case.fills->at(spec.name);
    const std::uint64_t drawn_from = is_data_before_part(test_case.tensors, i) ? test_case.seed : seed;
    inputs.push_back(fill.kind == FillKind::Npy
                         ? read_tensor(spec, fill.file, fmt::format("filling '{}'", spec.name))
                         : make_filled(spec.dtype, spec.shape, fill, spec.domain,
                                       {drawn_from, key, static_cast<std::uint32_t>(i)}));
  }
  return inputs;
}

/// Refuses a reference that changes an element and says that the op keeps it.
void check_kept(const Case& test_case, const TensorSpec& output, const Expected& expected,
                const HostTensor& before) {
  for (std::int64_t i = 0; i < before.numel(); ++i) {
    if (expected.kept[static_cast<std::size_t>(i)] == 0 || same_bytes(expected.values, before, i, i + 1))
      continue;
    throw std::logic_error(
        fmt::format("the reference of {} says that element {} of '{}' is kept, but gives it another value",
                    test_case.op->name, i, output.name));
  }
}

/// Refuses a reference that breaks its contract: later code would read past the end of its output.
void check_outputs(const Case& test_case, const std::vector<Expected>& expected) {
  const std::vector<const TensorSpec*> specs = output_specs(test_case);
  if (specs.size() != expected.size()) {
    throw std::logic_error(fmt::format("the reference of {} gave {} outputs, the op declares {}",
                                       test_case.op->name, expected.size(), specs.size()));
  }
  for (std::size_t i = 0; i < specs.size(); ++i) check_expected(test_case.op->name, *specs[i], expected[i]);
}

std::vector<Expected> reference_answers(const Case& test_case, std::span<const HostTensor> inputs) {
  std::vector<Expected> expected = test_case.op->reference(test_case.params, inputs);
  check_outputs(test_case, expected);
  const std::vector<const TensorSpec*> specs = output_specs(test_case);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!specs[i]->written_in_part) continue;
    check_kept(test_case, *specs[i], expected[i], data_before(test_case, *specs[i], inputs));
  }
  return expected;
}

/// The reference's answers, from the cache if they are there.
std::vector<Expected> known_or_new_answers(const Case& test_case, const DataSet& data,
                                           const AnswerCache* answers) {
  if (answers == nullptr) return reference_answers(test_case, data.inputs);
  const std::string key =
      answers->key_of(*test_case.op, test_case.params, test_case.tensors, data.input_hash);
  if (std::optional<std::vector<Expected>> known = answers->load(key, test_case.tensors))
    return *std::move(known);
  const Stopwatch watch;
  std::vector<Expected> expected = reference_answers(test_case, data.inputs);
  answers->store(key, expected, watch.ms());
  return expected;
}

/// The values from the case's `expected:` files, by output.
std::vector<std::optional<HostTensor>> read_expected_files(const Case& test_case) {
  std::vector<std::optional<HostTensor>> values;
  for (const TensorSpec* spec : output_specs(test_case)) {
    const auto file = test_case.expected_files->find(spec->name);
    if (file == test_case.expected_files->end()) {
      values.emplace_back();
    } else {
      values.emplace_back(
          read_tensor(*spec, file->second, fmt::format("taking the expected values of '{}'", spec->name)));
    }
  }
  return values;
}

/// The answers of an op without a reference, which are those of the case's files.
std::vector<Expected> answers_of_files(const Case& test_case,
                                       std::span<const std::optional<HostTensor>> files) {
  std::vector<HostTensor> values;
  for (const std::optional<HostTensor>& value : files) {
    if (!value) throw std::logic_error(test_case.id + " brings no answers");  // the loader refuses it
    values.push_back(*value);
  }
  std::vector<Expected> expected = test_case.op->answers_of_case(test_case.params, std::move(values));
  check_outputs(test_case, expected);
  return expected;
}

/// The data set of a seed.
DataSet filled_and_answered(const Case& test_case, std::uint64_t seed, const AnswerCache* answers) {
  DataSet data;
  data.inputs = make_inputs(test_case, seed);
  data.input_hash = hash_of(data.inputs);
  const Stopwatch watch;
  if (test_case.op->answers_of_case) {
    data.from_files = read_expected_files(test_case);
    data.expected = answers_of_files(test_case, data.from_files);
  } else {
    data.expected = known_or_new_answers(test_case, data, answers);
    data.from_files = read_expected_files(test_case);
  }
  data.reference_ms = watch.ms();
  return data;
}

}  // namespace

std::vector<const TensorSpec*> output_specs(const Case& test_case) {
  std::vector<const TensorSpec*> specs;
  for (const TensorSpec& spec : test_case.tensors) {
    if (!spec.is_input()) specs.push_back(&spec);
  }
  return specs;
}

DataSet make_data_set(const Case& test_case, const AnswerCache* answers) {
  return filled_and_answered(test_case, test_case.seed, answers);
}

bool has_secret_data(const Case& test_case) {
  if (!test_case.expected_files->empty()) return false;
  for (std::size_t i = 0; i < test_case.tensors->size(); ++i) {
    const TensorSpec& spec = test_case.tensors[i];
    if (!spec.is_input() || is_data_before_part(test_case.tensors, i)) continue;
    const FillKind kind = test_case.fills->at(spec.name).kind;
    if (kind != FillKind::Npy && kind != FillKind::Constant && kind != FillKind::Zero) return true;
  }
  return false;
}

DataSet make_secret_data_set(const Case& test_case, std::uint64_t secret, std::size_t which) {
  const std::string first = fmt::format("{} {}", secret, test_case.seed);
  const std::uint64_t seed = hash64(which == 0 ? first : fmt::format("{} {}", first, which));
  return filled_and_answered(test_case, seed, nullptr);
}

const HostTensor& data_before(const Case& test_case, const TensorSpec& output,
                              std::span<const HostTensor> inputs) {
  const auto before = std::span(*test_case.tensors).first(*output.starts_as);
  return inputs[static_cast<std::size_t>(std::ranges::count_if(before, &TensorSpec::is_input))];
}

}  // namespace assay
