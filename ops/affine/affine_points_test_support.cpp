#include "ops/affine/affine_points_test_support.h"

#include "ops/registry.h"

namespace assay::test {

std::vector<Form> forms_of(std::size_t tensors, Form form) {
  std::vector<Form> forms(tensors, {Storage::Buffer, Layout::WP});
  forms.front() = forms.back() = form;
  return forms;
}

Params AffinePoints::params(const Op& op) {
  Params params;
  params.set("shape", shape(13));
  set_blocks(params, op);
  params.set("dtype", one_of<std::string>({"f32", "f16"}));
  set_range(params);
  return with_defaults(op, std::move(params));
}

std::vector<Form> AffinePoints::one_form(std::span<const TensorSpec> tensors) {
  std::vector<Form> possible;
  for (const Form form : tensors.front().forms) {
    if (can_hold(form, tensors.front())) possible.push_back(form);
  }
  return forms_of(tensors.size(), one_of(possible));
}

void AffinePoints::set_blocks(Params& params, const Op& op) {
  const Shape shape = params.ints("shape");
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (op.find_param("axis") != nullptr) params.set("axis", pick(-rank, rank - 1));
  if (op.find_param("block_size") == nullptr) return;
  std::vector<std::int64_t> block;
  for (const std::int64_t dim : shape) block.push_back(one_of<std::int64_t>({1, -1, pick(1, dim)}));
  params.set("block_size", block);
  params.set("zero_point_domain", one_of<std::string>({"int", "none", "float"}));
}

void AffinePoints::set_range(Params& params) {
  struct Range {
    std::string quantized;
    std::int64_t min, max;
  };
  const auto range = one_of<Range>({{"i8", -8, 7},
                                    {"i8", -128, 127},
                                    {"i8", -127, 127},
                                    {"u8", 0, 20},
                                    {"u8", 0, 255},
                                    {"i32", -32768, 32767}});
  params.set("quantized", range.quantized);
  params.set("quant_min", range.min);
  params.set("quant_max", range.max);
}

void AffinePointsTest::try_points(const std::string& name, int count, std::uint32_t seed) {
  const Registry ops = ops::registry();
  const Op* op = ops.find(name);
  ASSERT_NE(op, nullptr) << name;
  AffinePoints points(seed);
  for (int round = 0; round < count && !HasFatalFailure(); ++round) {
    Trial trial{.op = op, .params = points.params(*op), .seed = static_cast<std::uint64_t>(round)};
    trial.forms = points.one_form(op->tensors(trial.params));
    trial.fill = points.one_of<FillKind>({FillKind::Normal, FillKind::Ties, FillKind::Saturate,
                                          FillKind::Wide, FillKind::Outlier, FillKind::Special});
    expect_right(trial);
  }
}

}  // namespace assay::test
