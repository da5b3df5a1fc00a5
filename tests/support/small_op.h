#pragma once

#include "harness/cases/case.h"
#include "harness/op/op.h"
#include "tests/support/tensors.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

// An op small enough to be reasoned about by hand, and cases of it.

namespace assay::test {

/// y = x with every bit turned, on i8.
inline Op flip_op() {
  Op op;
  op.name = "flip";
  op.params = {shape("shape")};
  op.tensors = [](const Params& params) {
    const Form form{Storage::Buffer, Layout::WP};
    const Shape& dims = params.ints("shape");
    TensorSpec x{.name = "x", .dtype = DType::I8, .shape = dims, .forms = {form}};
    x.domain = {.role = FillRole::Data, .lo = -128, .hi = 127};
    TensorSpec y{.name = "y", .role = TensorSpec::Role::Output, .dtype = DType::I8, .shape = dims};
    y.forms = {form};
    return std::vector<TensorSpec>{x, y};
  };
  op.reference = [](const Params&, std::span<const HostTensor> inputs) {
    HostTensor y = inputs[0];
    for (std::int8_t& value : y.as<std::int8_t>()) value = static_cast<std::int8_t>(~value);
    return std::vector<Expected>{exact(y)};
  };
  op.work = [](const Params&, std::span<const TensorSpec> tensors) { return streaming_work(tensors); };
  op.impls.push_back({.name = "plain"});
  return op;
}

/// The first values of y, an f32 tensor that begins with data of its own and is `tail` longer, become those
/// of x.
inline Op overwrite_op(std::int64_t tail) {
  Op op = flip_op();
  op.name = "overwrite";
  op.tensors = [tail](const Params& params) {
    const Form form{Storage::Buffer, Layout::WP};
    const std::int64_t values = numel(params.ints("shape"));
    TensorSpec x{.name = "x", .dtype = DType::F32, .shape = {values}, .forms = {form}};
    TensorSpec before{.name = "y", .dtype = DType::F32, .shape = {values + tail}, .forms = {form}};
    TensorSpec y = before;
    y.role = TensorSpec::Role::Output;
    y.starts_as = 1;
    y.written_in_part = true;
    return std::vector<TensorSpec>{x, before, y};
  };
  op.reference = [](const Params&, std::span<const HostTensor> inputs) {
    Expected y{.values = inputs[1], .kept = {}};
    const auto written = inputs[0].bytes();
    std::copy(written.begin(), written.end(), y.values.bytes().begin());
    y.kept.assign(static_cast<std::size_t>(inputs[1].numel()), 1);
    std::fill_n(y.kept.begin(), inputs[0].numel(), std::uint8_t{0});
    return std::vector<Expected>{y};
  };
  return op;
}

/// A case of `op` in its default forms, every input filled at random.
inline Case make_case(const Op& op, Params params, const std::string& point = "point") {
  Case test_case;
  test_case.op = &op;
  test_case.impl = &op.impls.front();
  test_case.name = point;
  test_case.id = op.name + "/" + point + "/" + test_case.impl->name;
  test_case.params = std::move(params);
  test_case.tensors = op.tensors(test_case.params);
  for (const TensorSpec& spec : test_case.tensors) {
    test_case.forms.push_back(spec.forms.front());
    if (spec.is_input()) test_case.fills.edit()[spec.name] = {.kind = FillKind::Uniform};
  }
  test_case.where = SourceLocation{"cases/" + op.name + ".yaml", 7, 5};
  return test_case;
}

inline Params shape_params(const Shape& dims) {
  Params params;
  params.set("shape", dims);
  return params;
}

}  // namespace assay::test
