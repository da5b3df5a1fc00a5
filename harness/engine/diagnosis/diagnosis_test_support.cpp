#include "harness/engine/diagnosis/diagnosis_test_support.h"

#include "tests/support/small_op.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>

namespace assay::test {
namespace {

constexpr Form in_rows{Storage::Buffer, Layout::WP};

TensorSpec tensor(const char* name, DType dtype, Shape shape, FillDomain domain = {}) {
  return {.name = name, .dtype = dtype, .shape = std::move(shape), .forms = {in_rows}, .domain = domain};
}

TensorSpec output(const char* name, DType dtype, Shape shape) {
  TensorSpec spec = tensor(name, dtype, std::move(shape));
  spec.role = TensorSpec::Role::Output;
  return spec;
}

std::vector<Expected> quantized(const Params& params, std::span<const HostTensor> inputs) {
  const std::int64_t rows = params.integer("rows"), columns = params.integer("columns");
  HostTensor q(DType::I8, {rows, columns});
  for (std::int64_t i = 0; i < q.numel(); ++i) {
    const double steps = inputs[0].at(i) / inputs[1].at(i / columns);
    set_element(q, i, std::clamp(std::nearbyint(steps) + inputs[2].at(i / columns), -128.0, 127.0));
  }
  return {exact(q)};
}

std::vector<Expected> product(const Params& params, std::span<const HostTensor> inputs) {
  const std::int64_t m = params.integer("m"), k = params.integer("k"), n = params.integer("n");
  HostTensor y(DType::F32, {m, n});
  for (std::int64_t i = 0; i < m * n; ++i) {
    double sum = inputs[2].at(i % n);
    for (std::int64_t d = 0; d < k; ++d) sum += inputs[0].at(i / n * k + d) * inputs[1].at(i % n * k + d);
    set_element(y, i, sum);
  }
  return {exact(y)};
}

Work work_of(const Params&, std::span<const TensorSpec> tensors) {
  return streaming_work(tensors);
}

Op make_row_quantize() {
  Op op;
  op.name = "row_quantize";
  op.params = {integer("rows"), integer("columns")};
  op.tensors = [](const Params& params) {
    const std::int64_t rows = params.integer("rows"), columns = params.integer("columns");
    return std::vector<TensorSpec>{tensor("x", DType::F32, {rows, columns}),
                                   tensor("scale", DType::F32, {rows}, {FillRole::Scale, 0, 0}),
                                   tensor("zero_point", DType::I32, {rows}, {FillRole::ZeroPoint, -128, 127}),
                                   output("q", DType::I8, {rows, columns})};
  };
  op.reference = quantized;
  op.work = work_of;
  op.impls.push_back({.name = "plain"});
  return op;
}

Op make_product() {
  Op op;
  op.name = "product";
  op.params = {integer("m"), integer("k"), integer("n")};
  op.tensors = [](const Params& params) {
    const std::int64_t m = params.integer("m"), k = params.integer("k"), n = params.integer("n");
    TensorSpec w = tensor("w", DType::F32, {n, k});
    w.constant = true;
    return std::vector<TensorSpec>{tensor("x", DType::F32, {m, k}), w, tensor("bias", DType::F32, {n}),
                                   output("y", DType::F32, {m, n})};
  };
  op.reference = product;
  op.work = work_of;
  op.impls.push_back({.name = "plain"});
  return op;
}

std::vector<Expected> table(const Params& params, std::span<const HostTensor> inputs) {
  const std::int64_t rows = params.integer("rows"), columns = params.integer("columns");
  HostTensor y(DType::F32, {rows, columns});
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    const auto byte = static_cast<unsigned>(inputs[0].at(i / 2));
    const unsigned nibble = i % 2 == 0 ? byte & 15U : byte >> 4;
    set_element(y, i, (static_cast<double>(nibble) - 8) * inputs[1].at(i / 8));
  }
  return {exact(y)};
}

Op make_nibble_table() {
  Op op;
  op.name = "nibble_table";
  op.params = {integer("rows"), integer("columns")};
  op.tensors = [](const Params& params) {
    const std::int64_t rows = params.integer("rows"), columns = params.integer("columns");
    return std::vector<TensorSpec>{tensor("w", DType::U8, {rows, columns / 2}, {FillRole::Data, 0, 255}),
                                   tensor("scale", DType::F32, {rows, columns / 8}, {FillRole::Scale, 0, 0}),
                                   output("y", DType::F32, {rows, columns})};
  };
  op.reference = table;
  op.work = work_of;
  op.impls.push_back({.name = "plain"});
  return op;
}

std::vector<Expected> box(const Params& params, std::span<const HostTensor> inputs) {
  const std::int64_t height = params.integer("H"), width = params.integer("W");
  const std::vector<std::int64_t> sides = params.ints("padding");
  const std::int64_t down = sides[sides.size() - 2], right = sides[sides.size() - 1];
  HostTensor y(DType::F32, {1, 1, height + sides[0] + down - 1, width + sides[1] + right - 1});
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    double sum = 0;
    for (const std::int64_t tap : {0, 1, 2, 3}) {
      const std::int64_t h = i / y.shape()[3] - sides[0] + tap / 2, w = i % y.shape()[3] - sides[1] + tap % 2;
      if (h >= 0 && w >= 0 && h < height && w < width) sum += inputs[0].at(h * width + w);
    }
    set_element(y, i, sum);
  }
  return {exact(y)};
}

Op make_box() {
  Op op;
  op.name = "box";
  op.params = {integer("H"), integer("W"), ints("padding", rank(2, 4))};
  op.tensors = [](const Params& params) {
    const std::int64_t height = params.integer("H"), width = params.integer("W");
    const std::vector<std::int64_t> sides = params.ints("padding");
    const std::int64_t down = sides[sides.size() - 2], right = sides[sides.size() - 1];
    return std::vector<TensorSpec>{
        tensor("x", DType::F32, {1, 1, height, width}),
        output("y", DType::F32, {1, 1, height + sides[0] + down - 1, width + sides[1] + right - 1})};
  };
  op.reference = box;
  op.work = work_of;
  op.impls.push_back({.name = "plain"});
  return op;
}

/// Values that look random and are the same everywhere: halves and eighths, positive and negative.
double value_at(const TensorSpec& spec, std::size_t input, std::int64_t i) {
  const auto mixed = static_cast<double>((i * 7919 + static_cast<std::int64_t>(input) * 104729 + 31) % 251);
  if (spec.domain.role == FillRole::Scale) return 0.25 + static_cast<double>(i) / 16;
  if (spec.domain.role == FillRole::ZeroPoint) return static_cast<double>(i * 3 % 11 + 2);
  if (spec.dtype == DType::U8) return mixed;
  return (mixed - 125) / 8;
}

}  // namespace

const Op& row_quantize_op() {
  static const Op op = make_row_quantize();
  return op;
}

const Op& product_op() {
  static const Op op = make_product();
  return op;
}

const Op& nibble_table_op() {
  static const Op op = make_nibble_table();
  return op;
}

const Op& box_op() {
  static const Op op = make_box();
  return op;
}

Wronged::Wronged(const Op& op, Params params) : case_(make_case(op, std::move(params))) {
  const std::vector<const TensorSpec*> specs = input_specs(case_);
  for (std::size_t k = 0; k < specs.size(); ++k) {
    HostTensor& made = inputs_.emplace_back(specs[k]->dtype, specs[k]->shape);
    for (std::int64_t i = 0; i < made.numel(); ++i) set_element(made, i, value_at(*specs[k], k, i));
  }
  expected_ = op.reference(case_.params, inputs_).front().values;
  got_ = expected_;
}

Wronged& Wronged::answer_of(const std::function<void(Point&)>& change) {
  Point point{case_.params, inputs_};
  change(point);
  got_ = case_.op->reference(point.params, point.inputs).front().values;
  return *this;
}

Wronged& Wronged::answer_by(const std::function<double(std::int64_t)>& value_of) {
  for (std::int64_t i = 0; i < got_.numel(); ++i) set_element(got_, i, value_of(i));
  return *this;
}

WrongOutput Wronged::output(std::function<bool(std::int64_t)> is_unwritten) const {
  std::vector<std::int64_t> wrong;
  for (std::int64_t i = 0; i < got_.numel(); ++i) {
    if (!same_bytes(expected_, got_, i, i + 1)) wrong.push_back(i);
  }
  const auto count = static_cast<std::int64_t>(wrong.size());
  return WrongOutput({.test_case = case_,
                      .inputs = inputs_,
                      .tensor = case_.tensors->size() - 1,
                      .expected = expected_,
                      .got = got_,
                      .wrong = std::move(wrong),
                      .all_wrong = count,
                      .is_unwritten = std::move(is_unwritten)});
}

Params row_params(std::int64_t rows, std::int64_t columns) {
  Params params;
  params.set("rows", rows);
  params.set("columns", columns);
  return params;
}

Params box_params(std::int64_t height, std::int64_t width, const std::vector<std::int64_t>& padding) {
  Params params;
  params.set("H", height);
  params.set("W", width);
  params.set("padding", padding);
  return params;
}

Params product_params(std::int64_t m, std::int64_t k, std::int64_t n) {
  Params params;
  params.set("m", m);
  params.set("k", k);
  params.set("n", n);
  return params;
}

HostTensor& input(const Wronged& wronged, Point& point, const char* name) {
  const std::vector<const TensorSpec*> specs = input_specs(wronged.test_case());
  for (std::size_t k = 0; k < specs.size(); ++k) {
    if (specs[k]->name == name) return point.inputs[k];
  }
  throw std::logic_error(std::string("no input ") + name);
}

}  // namespace assay::test
