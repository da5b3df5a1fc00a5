#include "harness/external/external_op.h"

#include "harness/base/error.h"
#include "harness/external/external_program.h"
#include "harness/external/folder_hash.h"
#include "harness/external/python/python_reference.h"
#include "harness/external/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

namespace assay::external {
namespace {

using SharedManifest = std::shared_ptr<const Manifest>;

/// Names a tensor's shape as it was written, for messages about it.
std::string shape_param(const DeclaredTensor& tensor) {
  const auto* name = std::get_if<std::string>(&tensor.shape);
  return name == nullptr ? "" : *name;
}

TensorSpec spec_at(const DeclaredTensor& declared, const Params& params) {
  TensorSpec spec{.name = declared.name,
                  .role = declared.is_output ? TensorSpec::Role::Output : TensorSpec::Role::Input,
                  .constant = declared.constant,
                  .dtype = dtype_at(declared.dtype, params),
                  .forms = declared.forms,
                  .domain = declared.domain,
                  .output_class = declared.output_class,
                  .constant_because = declared.constant_because,
                  .copy_because = declared.copy_because,
                  .ends_because = declared.ends_because};
  const Variables variables{params};
  spec.shape = shape_param(declared).empty()
                   ? shape_at(std::get<std::vector<PlacedExpression>>(declared.shape), variables.lookup(),
                              fmt::format("the tensor '{}'", declared.name))
                   : params.ints(shape_param(declared));
  return spec;
}

std::vector<TensorSpec> tensors_at(const Manifest& manifest, const Params& params) try {
  std::vector<TensorSpec> specs;
  for (const DeclaredTensor& declared : manifest.tensors) specs.push_back(spec_at(declared, params));
  return specs;
} catch (const ParameterError&) {
  throw;
} catch (const Error& error) {
  // The place of a case is a parameter's.
  throw ParameterError(manifest.params.empty() ? "" : manifest.params.front().name, error.what());
}

/// The distance from a value to the next larger one of a float dtype; of integers 1.
double spacing(double value, DType dtype) {
  constexpr int half_digits = 10, half_least_exponent = -14, single_digits = 23, single_least_exponent = -126;
  if (dtype != DType::F32 && dtype != DType::F16) return 1;
  const int exponent = value == 0 ? std::numeric_limits<int>::min() : std::ilogb(value);
  if (dtype == DType::F16) return std::ldexp(1.0, std::max(exponent, half_least_exponent) - half_digits);
  return std::ldexp(1.0, std::max(exponent, single_least_exponent) - single_digits);
}

std::vector<float> bounds_of(const PythonAnswer& answer, const OutputTolerance& tolerance, DType dtype) {
  std::vector<float> bounds(static_cast<std::size_t>(answer.values.numel()));
  for (std::int64_t i = 0; i < answer.values.numel(); ++i) {
    const double want = answer.values.at(i);
    if (!std::isfinite(want)) continue;
    double bound = tolerance.abs + tolerance.rel * std::fabs(want) + tolerance.ulp * spacing(want, dtype);
    if (answer.bound) bound += answer.bound->at(i);
    bounds[static_cast<std::size_t>(i)] = static_cast<float>(bound);
  }
  return bounds;
}

Expected expected_of(const DeclaredTensor& declared, const WantedOutput& wanted, PythonAnswer answer) {
  if (declared.output_class == OutputClass::Bounded) {
    std::vector<float> bounds = bounds_of(answer, declared.tolerance, wanted.dtype);
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

std::vector<Expected> answers_at(const Manifest& manifest, const Params& params,
                                 std::span<const HostTensor> inputs) {
  const std::vector<TensorSpec> specs = tensors_at(manifest, params);
  std::vector<NamedTensor> given;
  std::vector<WantedOutput> wanted;
  std::vector<const DeclaredTensor*> declared;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].is_input()) {
      given.push_back({specs[i].name, inputs[given.size()]});
    } else {
      wanted.push_back({specs[i].name, specs[i].dtype, specs[i].shape});
      declared.push_back(&manifest.tensors[i]);
    }
  }
  const PythonReference reference(manifest.folder / manifest.reference, manifest.function);
  std::vector<PythonAnswer> answers = reference.compute(params, given, wanted);
  std::vector<Expected> expected;
  for (std::size_t i = 0; i < answers.size(); ++i)
    expected.push_back(expected_of(*declared[i], wanted[i], std::move(answers[i])));
  return expected;
}

Work work_at(const Manifest& manifest, const Params& params, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  const Variables variables{.params = params, .tensors = tensors};
  const Lookup lookup = variables.lookup();
  if (manifest.operations) work.operations = std::max<std::int64_t>(manifest.operations->evaluate(lookup), 0);
  if (manifest.bytes_read) work.bytes_read = std::max<std::int64_t>(manifest.bytes_read->evaluate(lookup), 0);
  if (manifest.bytes_written)
    work.bytes_written = std::max<std::int64_t>(manifest.bytes_written->evaluate(lookup), 0);
  return work;
}

Impl impl_of(const SharedManifest& manifest, const DeclaredImpl& declared) {
  Impl impl;
  impl.name = declared.name;
  impl.summary = declared.summary.empty() ? "kernels of " + manifest->file.string() : declared.summary;
  impl.ceiling = declared.ceiling;
  impl.tunables = declared.tunables;
  impl.build = [manifest, &declared](const BuildContext& at) { return program_at(*manifest, declared, at); };
  impl.invalid_reason = [manifest, &declared](const ImplPoint& at) { return why_excluded(declared, at); };
  impl.unsupported_reason = [manifest, &declared](const BuildContext& at) {
    return why_beyond_device(declared, at);
  };
  impl.skipped_reason = [](const BuildContext&) -> std::optional<std::string> {
    const std::optional<std::string> why = why_no_python();
    return why ? std::optional("its reference needs Python with NumPy, and " + *why) : std::nullopt;
  };
  return impl;
}

}  // namespace

Op op_of(Manifest declared) {
  const auto manifest = std::make_shared<const Manifest>(std::move(declared));
  Op op;
  op.name = manifest->op;
  op.summary = manifest->summary;
  op.version = manifest->version;
  op.params = manifest->params;
  op.tensors = [manifest](const Params& params) { return tensors_at(*manifest, params); };
  op.reference = [manifest](const Params& params, std::span<const HostTensor> inputs) {
    return answers_at(*manifest, params, inputs);
  };
  op.work = [manifest](const Params& params, std::span<const TensorSpec> tensors) {
    return work_at(*manifest, params, tensors);
  };
  for (const DeclaredImpl& impl : manifest->impls) op.impls.push_back(impl_of(manifest, impl));
  op.answer_version = [manifest] { return folder_hash(manifest->folder) + ", " + python_versions(); };
  op.declared_in = manifest->file;
  op.files = {manifest->file.string()};
  return op;
}

}  // namespace assay::external
