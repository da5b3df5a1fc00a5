#include "tests/faults/grouped_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace assay::faults {
namespace {

constexpr std::uint32_t sum_local_size = 16;
constexpr std::int64_t group_size = 8;

std::vector<TensorSpec> tensors(const Params& params) {
  const std::vector<Form> forms = {{Storage::Buffer, Layout::WP}};
  const std::int64_t rows = params.integer("rows"), groups = params.integer("groups");
  TensorSpec x{.name = "x", .dtype = DType::I8, .shape = {rows, groups * group_size}, .forms = forms};
  x.domain = {FillRole::Data, -128, 127};
  TensorSpec s{.name = "s", .dtype = DType::F32, .shape = {groups}, .forms = forms};
  s.domain = {.role = FillRole::Scale};
  TensorSpec y{.name = "y", .role = TensorSpec::Role::Output, .dtype = DType::I32, .shape = {rows}};
  y.forms = forms;
  y.domain = {FillRole::Data, -128, 127};
  y.output_class = OutputClass::Banded;
  return {x, s, y};
}

/// The terms of one row's sum, exact in float64.
std::vector<double> terms_of(std::span<const std::int8_t> row, std::span<const float> scales) {
  std::vector<double> terms;
  for (std::size_t g = 0; g < scales.size(); ++g) {
    int sum = 0;
    for (const std::int8_t value : row.subspan(g * group_size, group_size)) sum += value;
    terms.push_back(sum * static_cast<double>(scales[g]));
  }
  return terms;
}

/// The value of the lowest bit that is set.
double lowest_bit(double value) {
  int exponent = 0;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(std::fabs(value), &exponent), 53));
  return std::ldexp(static_cast<double>(mantissa & -mantissa), exponent - 53);
}

/// Sum of magnitudes; 0 when float32 adds the terms without rounding, in whatever order.
double magnitude_of(const std::vector<double>& terms) {
  double sum = 0, unit = std::numeric_limits<double>::infinity();
  for (const double term : terms) {
    sum += std::fabs(term);
    if (term != 0) unit = std::min(unit, lowest_bit(term));
  }
  return sum <= unit * 0x1p24 ? 0 : sum;
}

std::vector<Expected> reference(const Params& params, std::span<const HostTensor> inputs) {
  const std::int64_t rows = params.integer("rows");
  const auto columns = static_cast<std::size_t>(params.integer("groups") * group_size);
  const auto x = inputs[0].as<std::int8_t>();
  Expected y{.values = HostTensor(DType::I32, {rows})};
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    const std::vector<double> terms = terms_of(x.subspan(row * columns, columns), inputs[1].as<float>());
    double sum = 0;
    for (const double term : terms) sum += term;
    y.unrounded.push_back(sum);
    y.magnitude.push_back(static_cast<float>(magnitude_of(terms)));
    y.values.as<std::int32_t>()[row] =
        static_cast<std::int32_t>(std::nearbyint(std::clamp(sum, -128.0, 127.0)));
  }
  return {y};
}

/// gamma(n) for the product and the sums of one row.
double unit_error(const BuildContext& context) {
  const double n = static_cast<double>(context.params.integer("groups")) + 1;
  return n * 0x1p-24 / (1 - n * 0x1p-24);
}

/// A sum that starts at 4096 has the error of sums of that size, and a row's magnitude is at least a fortieth
/// of it.
double coarse_unit_error(const BuildContext& context) {
  return 40 * unit_error(context);
}

Program program(const BuildContext& context, const std::string& define) {
  const std::int64_t rows = context.params.integer("rows");
  Dispatch dispatch;
  dispatch.label = "grouped_sum";
  dispatch.shader = "grouped_sum.comp";
  dispatch.defines = {{define, "1"}};
  dispatch.local_size = {sum_local_size, 1, 1};
  for (std::uint32_t i = 0; i < context.tensors.size(); ++i) dispatch.bindings.push_back(Resource::tensor(i));
  dispatch.push.add(rows).add(context.params.integer("groups"));
  dispatch.workgroups = {static_cast<std::uint32_t>(div_up(rows, sum_local_size)), 1, 1};
  return {.dispatches = {std::move(dispatch)}};
}

Impl impl(std::string name, const std::string& define) {
  return {.name = std::move(name),
          .build = [define](const BuildContext& context) { return program(context, define); },
          .unit_error = unit_error};
}

}  // namespace

Op grouped_sum() {
  Op op;
  op.name = "grouped_sum";
  op.params = {integer("rows").at_least(1), integer("groups").at_least(1)};
  op.tensors = tensors;
  op.reference = reference;
  op.work = [](const Params&, std::span<const TensorSpec> specs) { return streaming_work(specs); };
  op.impls = {
      impl("up", "GROUPS_UP"),          impl("down", "GROUPS_DOWN"), impl("half_away", "FAULT_half_away"),
      impl("biased", "FAULT_biased"),   impl("silent", "GROUPS_UP"), impl("coarse", "GROUPS_COARSE"),
      impl("boastful", "GROUPS_COARSE")};
  op.impls[4].unit_error = nullptr;
  op.impls[5].unit_error = coarse_unit_error;
  op.impls[6].unit_error = [](const BuildContext&) { return 0.0; };
  return op;
}

Params grouped_sum_params(std::int64_t rows, std::int64_t groups) {
  Params params;
  params.set("rows", rows);
  params.set("groups", groups);
  return params;
}

}  // namespace assay::faults
