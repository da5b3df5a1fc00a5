#include "harness/external/external_op.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/base/text.h"
#include "harness/external/manifest_at_point.h"
#include "harness/external/other_op.h"
#include "harness/external/python/python_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

namespace assay::external {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 10'000;
constexpr std::uintmax_t most_bytes = std::uintmax_t{256} << 20;

/// What programs leave in a folder: caches, version control, reports.
bool is_no_part(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name == "__pycache__" || name == "assay-out";
}

/// The files below a folder by their paths in it, sorted.
std::map<std::string, fs::path> files_below(const fs::path& folder) {
  std::map<std::string, fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (is_no_part(at->path())) {
      at.disable_recursion_pending();
      continue;
    }
    if (at->is_symlink(gone) && at->is_directory(gone)) {
      throw Error(
          fmt::format("reading the folder of an op: '{}' is a link to a folder, and those are not followed: "
                      "copy the folder, or link its files",
                      at->path().string()));
    }
    if (!at->is_regular_file(gone)) continue;
    files.emplace(at->path().lexically_relative(folder).generic_string(), at->path());
    if (files.size() > most_files) {
      throw Error(fmt::format("reading the folder of an op: '{}' has more than {} files", folder.string(),
                              most_files));
    }
  }
  if (error)
    throw Error(fmt::format("reading the folder of an op: '{}': {}", folder.string(), error.message()));
  return files;
}

/// What a manifest's op is made from.
struct Declared {
  Manifest manifest;
  std::optional<OtherOp> other;  ///< if that answers
};
using SharedDeclared = std::shared_ptr<const Declared>;

/// Names a tensor's shape as it was written, for messages about it.
std::string shape_param(const DeclaredTensor& tensor) {
  const auto* name = std::get_if<std::string>(&tensor.shape);
  return name == nullptr ? "" : *name;
}

double real_of(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

/// The values that a tensor may take at a point.
FillDomain domain_at(const DeclaredTensor& declared, const Lookup& lookup) {
  FillDomain domain = declared.domain;
  if (declared.domain_lo) domain.lo = real_of(declared.domain_lo->evaluate_number(lookup));
  if (declared.domain_hi) domain.hi = real_of(declared.domain_hi->evaluate_number(lookup));
  if (domain.lo <= domain.hi) return domain;
  const PlacedExpression& end = declared.domain_hi ? *declared.domain_hi : *declared.domain_lo;
  throw Error(fmt::format("{}: the domain of '{}' is from {} to {} here, which is empty", end.place(),
                          declared.name, shortest(domain.lo), shortest(domain.hi)));
}

/// Data from 0 to 0 have no range, so integers would get any value, and reads by them go anywhere. Indices of
/// that domain are 0.
FillDomain fill_domain_at(const DeclaredTensor& declared, DType dtype, const Lookup& lookup) {
  FillDomain domain = domain_at(declared, lookup);
  const bool is_read = declared.role != TensorRole::Output;
  if (declared.has_range && is_read && !is_float(dtype) && domain == FillDomain{})
    domain.role = FillRole::Index;
  return domain;
}

TensorSpec spec_at(const DeclaredTensor& declared, const Params& params) {
  const Variables variables{params};
  TensorSpec spec{.name = declared.name,
                  .role = declared.is_output() ? TensorSpec::Role::Output : TensorSpec::Role::Input,
                  .constant = declared.constant,
                  .dtype = dtype_at(declared.dtype, params),
                  .forms = declared.forms,
                  .domain = fill_domain_at(declared, dtype_at(declared.dtype, params), variables.lookup()),
                  .output_class = declared.output_class,
                  .constant_because = declared.constant_because,
                  .copy_because = declared.copy_because,
                  .ends_because = declared.ends_because};
  spec.shape = shape_param(declared).empty()
                   ? shape_at(std::get<std::vector<PlacedExpression>>(declared.shape), variables.lookup(),
                              fmt::format("the tensor '{}'", declared.name))
                   : params.ints(shape_param(declared));
  return spec;
}

/// The data that a tensor has before a program updates it: an input of the same name.
TensorSpec data_before(const TensorSpec& updated) {
  return {.name = updated.name,
          .dtype = updated.dtype,
          .shape = updated.shape,
          .forms = updated.forms,
          .domain = updated.domain};
}

/// The declarations of the outputs, in their order.
std::vector<const DeclaredTensor*> outputs_of(const Manifest& manifest) {
  std::vector<const DeclaredTensor*> outputs;
  for (const DeclaredTensor& tensor : manifest.tensors) {
    if (tensor.is_output()) outputs.push_back(&tensor);
  }
  return outputs;
}

/// Refuses a tolerance that the class, which another op decides, does not use.
void check_tolerances(const Manifest& manifest, std::span<const TensorSpec> specs) {
  for (const DeclaredTensor* output : outputs_of(manifest)) {
    const OutputTolerance& tolerance = output->tolerance;
    const auto spec = std::ranges::find_if(
        specs, [&](const TensorSpec& one) { return !one.is_input() && one.name == output->name; });
    const bool has_bound = tolerance.abs > 0 || tolerance.rel > 0 || tolerance.ulp > 0;
    const bool is_unused = (has_bound && spec->output_class != OutputClass::Bounded) ||
                           (tolerance.unit && spec->output_class == OutputClass::Exact);
    if (!is_unused) continue;
    throw Error(
        fmt::format("{}: '{}' is {}, by the op that answers, and its tolerance would change nothing: "
                    "abs, rel and ulp are for bounded outputs, unit for bounded and banded ones",
                    manifest.file.string(), output->name, name_of(spec->output_class)));
  }
}

std::vector<TensorSpec> tensors_at(const Declared& declared, const Params& params) try {
  std::vector<TensorSpec> specs;
  for (const DeclaredTensor& tensor : declared.manifest.tensors) {
    TensorSpec spec = spec_at(tensor, params);
    if (tensor.role == TensorRole::InOut) {
      spec.starts_as = static_cast<std::uint32_t>(specs.size());
      specs.push_back(data_before(spec));
      spec.domain = {};  // a range of outputs is where they are clamped
    }
    specs.push_back(std::move(spec));
  }
  if (declared.other) {
    declared.other->complete(params, specs);
    check_tolerances(declared.manifest, specs);
  }
  return specs;
} catch (const ParameterError&) {
  throw;
} catch (const Error& error) {
  // The place of a case is a parameter's.
  const std::vector<ParamSpec>& known = declared.manifest.params;
  throw ParameterError(known.empty() ? "" : known.front().name, error.what());
}

/// The distance from a value to the next larger one of a float dtype; of integers 1.
double spacing(double value, DType dtype) {
  constexpr int half_digits = 10, half_least_exponent = -14, single_digits = 23, single_least_exponent = -126;
  if (dtype != DType::F32 && dtype != DType::F16) return 1;
  const int exponent = value == 0 ? std::numeric_limits<int>::min() : std::ilogb(value);
  if (dtype == DType::F16) return std::ldexp(1.0, std::max(exponent, half_least_exponent) - half_digits);
  return std::ldexp(1.0, std::max(exponent, single_least_exponent) - single_digits);
}

/// `bound` and a further absolute error. It is infinite, which accepts whatever a program makes, only if that
/// is.
float with_error(double bound, double more) {
  constexpr double most = std::numeric_limits<float>::max();
  return static_cast<float>(std::isinf(more) ? more : std::min(bound + more, most));
}

/// The absolute errors that a tolerance allows around finite values; 0 for others.
std::vector<float> bounds_of(const HostTensor& values, const OutputTolerance& tolerance, DType dtype) {
  std::vector<float> bounds(static_cast<std::size_t>(values.numel()));
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const double want = values.at(i);
    if (!std::isfinite(want)) continue;
    bounds[static_cast<std::size_t>(i)] =
        with_error(tolerance.abs + tolerance.rel * std::fabs(want) + tolerance.ulp * spacing(want, dtype), 0);
  }
  return bounds;
}

void add_to(std::vector<float>& bounds, const std::vector<float>& more) {
  for (std::size_t i = 0; i < std::min(bounds.size(), more.size()); ++i)
    bounds[i] = with_error(bounds[i], more[i]);
}

Expected expected_of(const DeclaredTensor& declared, const WantedOutput& wanted, PythonAnswer answer) {
  if (declared.output_class == OutputClass::Bounded) {
    std::vector<float> bounds = bounds_of(answer.values, declared.tolerance, wanted.dtype);
    for (std::int64_t i = 0; answer.bound && i < answer.bound->numel(); ++i) {
      float& bound = bounds[static_cast<std::size_t>(i)];
      if (std::isfinite(answer.values.at(i))) bound = with_error(bound, answer.bound->at(i));
    }
    return {.values = std::move(answer.values), .bound = std::move(bounds)};
  }
  if (answer.bound) {
    throw Error(
        fmt::format("the reference gave a bound for '{}', and the op declares it exact", wanted.name));
  }
  if (answer.values.dtype() != wanted.dtype) {
    throw Error(fmt::format(
        "the reference gave '{}' as float64, and the op declares it exact: return it as {}, rounded "
        "as the op defines it",
        wanted.name, name_of(wanted.dtype)));
  }
  return {.values = std::move(answer.values)};
}

std::vector<Expected> answers_by_python(const Manifest& manifest, const DeclaredPython& python,
                                        const Params& params, std::span<const TensorSpec> specs,
                                        std::span<const HostTensor> inputs) {
  std::vector<NamedTensor> given;
  std::vector<WantedOutput> wanted;
  for (const TensorSpec& spec : specs) {
    if (spec.is_input()) {
      given.push_back({spec.name, inputs[given.size()]});
    } else {
      wanted.push_back({spec.name, spec.dtype, spec.shape});
    }
  }
  const PythonReference reference(manifest.folder / python.file, python.function);
  std::vector<PythonAnswer> answers = reference.compute(params, given, wanted);
  const std::vector<const DeclaredTensor*> outputs = outputs_of(manifest);
  std::vector<Expected> expected;
  for (std::size_t i = 0; i < answers.size(); ++i)
    expected.push_back(expected_of(*outputs[i], wanted[i], std::move(answers[i])));
  return expected;
}

/// The other op's answers, with what the manifest adds to their bounds.
std::vector<Expected> answers_by_other(const Declared& declared, const Params& params,
                                       std::span<const TensorSpec> specs,
                                       std::span<const HostTensor> inputs) {
  std::vector<Expected> answers = declared.other->answers(params, specs, inputs);
  const std::vector<const DeclaredTensor*> outputs = outputs_of(declared.manifest);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const OutputTolerance& tolerance = outputs[i]->tolerance;
    if (!answers[i].magnitude.empty() && !tolerance.unit) {
      throw Error(fmt::format(
          "the reference of {} tells an error for a unit error of 1 of '{}': give the unit error of your "
          "kernels, such as that of their accumulator: `tolerance: {{unit: 1.0e-6, reason: ...}}`",
          declared.other->op().name, outputs[i]->name));
    }
    for (float& magnitude : answers[i].magnitude) magnitude *= static_cast<float>(*tolerance.unit);
    const bool is_bounded =
        answers[i].unrounded.empty() && !(answers[i].bound.empty() && answers[i].magnitude.empty());
    if (!is_bounded) continue;
    std::vector<float> bounds = bounds_of(answers[i].values, tolerance, dtype_at(outputs[i]->dtype, params));
    add_to(bounds, answers[i].bound);
    answers[i].bound = std::move(bounds);
  }
  return answers;
}

std::vector<Expected> answers_at(const Declared& declared, const Params& params,
                                 std::span<const HostTensor> inputs) {
  const std::vector<TensorSpec> specs = tensors_at(declared, params);
  if (declared.other) return answers_by_other(declared, params, specs, inputs);
  const Manifest& manifest = declared.manifest;
  if (const auto* python = std::get_if<DeclaredPython>(&manifest.reference))
    return answers_by_python(manifest, *python, params, specs, inputs);
  throw Error(fmt::format("the op '{}' has no reference: each of its cases brings the answers for its data",
                          manifest.op));
}

/// The answers of a case, which gives `values` of the outputs.
std::vector<Expected> answers_of_case(const Manifest& manifest, const Params& params,
                                      std::vector<HostTensor> values) {
  const std::vector<const DeclaredTensor*> outputs = outputs_of(manifest);
  std::vector<Expected> expected;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Expected one;
    if (outputs[i]->output_class == OutputClass::Bounded)
      one.bound = bounds_of(values[i], outputs[i]->tolerance, dtype_at(outputs[i]->dtype, params));
    one.values = std::move(values[i]);
    expected.push_back(std::move(one));
  }
  return expected;
}

std::int64_t count_of(const PlacedExpression& work, const Lookup& lookup) {
  const std::int64_t count = work.evaluate(lookup);
  if (count >= 0) return count;
  throw Error(
      fmt::format("{}: '{}' is {}: work must not be negative", work.place(), work.expression.text(), count));
}

Work work_at(const Manifest& manifest, const Params& params, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  const Variables variables{.params = params, .tensors = tensors};
  const Lookup lookup = variables.lookup();
  if (manifest.operations) work.operations = count_of(*manifest.operations, lookup);
  if (manifest.bytes_read) work.bytes_read = count_of(*manifest.bytes_read, lookup);
  if (manifest.bytes_written) work.bytes_written = count_of(*manifest.bytes_written, lookup);
  return work;
}

/// Whether the reference's magnitudes are multiplied by the unit errors of outputs.
bool has_unit_errors(const Manifest& manifest) {
  return std::ranges::any_of(manifest.tensors,
                             [](const DeclaredTensor& tensor) { return tensor.tolerance.unit.has_value(); });
}

Impl impl_of(const SharedDeclared& shared, const DeclaredImpl& declared) {
  const Manifest& manifest = shared->manifest;
  Impl impl;
  impl.name = declared.name;
  impl.summary = declared.summary.empty() ? "kernels of " + manifest.file.string() : declared.summary;
  impl.ceiling = declared.ceiling;
  impl.tunables = declared.tunables;
  impl.build = [shared, &declared](const BuildContext& at) {
    return program_at(shared->manifest, declared, at);
  };
  impl.invalid_reason = [shared, &declared](const ImplPoint& at) { return why_excluded(declared, at); };
  impl.unsupported_reason = [shared, &declared](const BuildContext& at) {
    return why_beyond_device(declared, at);
  };
  if (has_unit_errors(manifest)) impl.unit_error = [](const BuildContext&) { return 1.0; };
  if (!std::holds_alternative<DeclaredPython>(manifest.reference)) return impl;
  impl.skipped_reason = [](const BuildContext&) -> std::optional<std::string> {
    const std::optional<std::string> why = why_no_python();
    return why ? std::optional("its reference needs Python with NumPy, and " + *why) : std::nullopt;
  };
  return impl;
}

/// Who answers, and of what version that is. It may be slow.
std::string answer_version(const Declared& declared) {
  // The manifest as it was read; the file may be another one now.
  const std::string folder = declared.manifest.text_hash + " " + folder_hash(declared.manifest.folder);
  if (declared.other)
    return fmt::format("{}, {} {}", folder, declared.other->op().name, declared.other->op().version);
  return folder + ", " + python_versions();
}

}  // namespace

std::string folder_hash(const fs::path& folder) {
  std::string all;
  std::uintmax_t bytes = 0;
  for (const auto& [name, path] : files_below(folder)) {
    const std::optional<std::string> content = whole_regular_file(path, most_bytes);
    if (content) bytes += content->size();
    if (!content || bytes > most_bytes) {
      throw Error(
          fmt::format("reading the folder of an op: '{}' cannot be read, or the folder has more than {} MiB",
                      path.string(), most_bytes >> 20U));
    }
    all += fmt::format("{} {} {}\n", name, content->size(), source_hash(*content));
  }
  return source_hash(all);
}

Op op_of(Manifest manifest, const Registry& registry) {
  std::optional<OtherOp> other;
  if (std::holds_alternative<DeclaredOtherOp>(manifest.reference)) other.emplace(manifest, registry);
  const auto shared = std::make_shared<const Declared>(Declared{std::move(manifest), std::move(other)});
  const Manifest& declared = shared->manifest;
  Op op;
  op.name = declared.op;
  op.summary = declared.summary;
  op.version = declared.version;
  op.params = declared.params;
  op.tensors = [shared](const Params& params) { return tensors_at(*shared, params); };
  op.reference = [shared](const Params& params, std::span<const HostTensor> inputs) {
    return answers_at(*shared, params, inputs);
  };
  if (std::holds_alternative<DeclaredByCases>(declared.reference)) {
    op.answers_of_case = [shared](const Params& params, std::vector<HostTensor> values) {
      return answers_of_case(shared->manifest, params, std::move(values));
    };
  }
  op.work = [shared](const Params& params, std::span<const TensorSpec> tensors) {
    return work_at(shared->manifest, params, tensors);
  };
  for (const DeclaredImpl& impl : declared.impls) op.impls.push_back(impl_of(shared, impl));
  op.answer_version = [shared] { return answer_version(*shared); };
  op.declared_in = declared.file;
  op.files = {declared.file.string()};
  return op;
}

}  // namespace assay::external
