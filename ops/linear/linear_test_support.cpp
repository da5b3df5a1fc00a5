#include "ops/linear/linear_test_support.h"

#include "harness/cases/describe/reachable_programs.h"

#include <algorithm>
#include <map>

namespace assay::test {
namespace {

const std::vector<FillKind> fills{FillKind::Normal,   FillKind::Normal, FillKind::Uniform, FillKind::Ties,
                                  FillKind::Saturate, FillKind::Ends,   FillKind::Outlier, FillKind::Mixed};

/// Tunes mostly nothing, since drivers compile large tiles for long; otherwise any values of some tunables.
Tune random_tune(Draw& draw, const Impl& impl) {
  Tune tune;
  if (draw.pick(0, 2) != 0) return tune;
  for (const Tunable& tunable : impl.tunables) {
    if (draw.pick(0, 1) == 0) continue;
    tune[tunable.name] = tunable.allowed.empty() ? draw.pick(tunable.min, tunable.max)
                                                 : draw.one_of<std::int64_t>(tunable.allowed);
  }
  return tune;
}

/// Draws the choices and booleans that a linear op has in addition to its sizes.
void draw_choices(Draw& draw, const Op& op, Params& params) {
  params.set("bias", draw.pick(0, 1) == 1);
  for (const auto& [name, values] :
       std::map<std::string, std::vector<std::string>>{{"activation", {"none", "relu"}},
                                                       {"dtype", {"f32", "f16"}},
                                                       {"activations", {"dynamic", "given"}},
                                                       {"epilogue", {"float32", "fixed_point"}}}) {
    if (op.find_param(name) != nullptr) params.set(name, draw.one_of<std::string>(values));
  }
}

/// The number of which K is a multiple: a group, or a word of int4 weights.
std::int64_t step_of_depth(const Op& op, std::int64_t group_size) {
  if (op.find_param("group_size") != nullptr) return group_size;
  return op.name == "linear_q4csw" ? 8 : 1;
}

}  // namespace

Params LinearTest::params_of(const Op& op, const Sizes& sizes, std::int64_t group_size) {
  Params params;
  params.set("batch", sizes.batch);
  params.set("M", sizes.m);
  params.set("K", sizes.k);
  params.set("N", sizes.n);
  if (op.find_param("group_size") != nullptr) params.set("group_size", group_size);
  if (op.find_param("x") != nullptr) params.set("x", QParams{0.02F, -11});
  if (!sizes.dtype.empty() && op.find_param("dtype") != nullptr) params.set("dtype", sizes.dtype);
  return with_defaults(op, std::move(params));
}

std::vector<Form> LinearTest::first_forms(const Op& op, const Params& params) {
  std::vector<Form> forms;
  for (const TensorSpec& tensor : op.tensors(params)) forms.push_back(tensor.forms.front());
  return forms;
}

Trial LinearTest::trial_of(const Op& op, const std::string& impl, const Sizes& sizes,
                           std::int64_t group_size) {
  Trial trial{.op = &op, .params = params_of(op, sizes, group_size), .seed = 7, .impl = impl};
  trial.forms = first_forms(op, trial.params);
  return trial;
}

Trial LinearTest::random_trial(Draw& draw, const Op& op, const std::string& impl, const Sizes& most) {
  const auto group_size = draw.one_of<std::int64_t>({8, 16, 24, 32, 48, 64, 96, 128});
  Sizes sizes{draw.pick(1, most.m), draw.pick(1, most.k), draw.pick(1, most.n)};
  const std::int64_t step = step_of_depth(op, group_size);
  if (step > 1) sizes.k = step * draw.pick(1, std::max<std::int64_t>(1, most.k / step));
  if (draw.pick(0, 2) == 0) sizes.batch = draw.one_of<Shape>({{2}, {3}, {2, 3}});
  Trial trial{.op = &op, .params = params_of(op, sizes, group_size), .impl = impl};
  draw_choices(draw, op, trial.params);
  trial.forms = draw.forms(op.tensors(trial.params));
  trial.fill = draw.one_of(fills);
  trial.tune = random_tune(draw, *op.find_impl(impl));
  return trial;
}

std::string LinearTest::refusal(const Trial& trial) {
  const Impl& impl = *trial.op->find_impl(trial.impl);
  const std::vector<TensorSpec> tensors = trial.op->tensors(trial.params);
  DeviceInfo info = device().info();
  if (trial.as_if) trial.as_if(info);
  const BuildContext context(trial.params, tensors, trial.forms, info, trial.tune);
  if (const auto reason = impl.invalid_reason(context)) return *reason;
  return missing_for(impl, context).value_or("");
}

bool LinearTest::can_run(const Trial& trial) {
  return refusal(trial).empty();
}

void LinearTest::expect_right_here(const Trial& trial) {
  SCOPED_TRACE("as if on this device: " + trial.describe());
  expect_right(trial);
}

void LinearTest::try_points(const Op& op, const std::string& impl, int count, const Sizes& most) {
  Draw draw(static_cast<std::uint32_t>(most.m + most.k + most.n));
  int tried = 0;
  for (int round = 0; tried < count && round < 20 * count; ++round) {
    Trial trial = random_trial(draw, op, impl, most);
    trial.seed = static_cast<std::uint64_t>(round);
    if (!can_run(trial)) continue;
    expect_right_here(trial);
    ++tried;
  }
  EXPECT_EQ(tried, count) << "most points are refused";
}

Dispatch LinearTest::product_of(const Trial& trial) {
  for (const Dispatch& dispatch : program_of(trial).dispatches) {
    if (dispatch.label == "product") return dispatch;
  }
  ADD_FAILURE() << trial.describe() << ": no product";
  return {};
}

Trial PlacedOperandsTest::trial(const std::string& op, const Sizes& sizes, Tune tune,
                                std::int64_t group_size) {
  Trial made = trial_of(op_of(op), "coopmat", sizes, group_size);
  made.tune = std::move(tune);
  made.tune["operands"] = operands_;
  if (op != "linear_qta8a_qga4w_qta8o") made.params.set("dtype", std::string("f16"));
  made.forms = first_forms(*made.op, made.params);
  return made;
}

std::string PlacedOperandsTest::refusal_on(const DeviceInfo& device, Trial made) {
  made.as_if = [device](DeviceInfo& info) { info = device; };
  return refusal(made);
}

std::string PlacedOperandsTest::default_shader_on(const DeviceInfo& device, const std::string& op,
                                                  const Sizes& sizes, Tune tune, std::int64_t group_size) {
  Trial made = trial(op, sizes, {}, group_size);
  made.tune = std::move(tune);
  made.as_if = [device](DeviceInfo& info) { info = device; };
  return product_of(made).shader;
}

double PlacedOperandsTest::unit_error_on(const DeviceInfo& device, const Trial& made) {
  const std::vector<TensorSpec> tensors = made.op->tensors(made.params);
  return made.op->find_impl("coopmat")
      ->unit_error({made.params, tensors, made.forms, device, made.tune})
      .of_magnitude;
}

DeviceInfo h200() {
  DeviceInfo device = contrasting_devices().at(1);
  device.shader_cores = 132;
  device.max_workgroup_invocations = 1024;
  device.max_workgroup_size = {1024, 1024, 64};
  device.max_shared_bytes = 49152;
  device.max_storage_buffers_per_stage = 1U << 20U;
  return device;
}

std::string define_of(const Dispatch& dispatch, std::string_view name) {
  const auto found = std::ranges::find(dispatch.defines, name, &Define::name);
  if (found != dispatch.defines.end()) return found->value;
  ADD_FAILURE() << dispatch.shader << " has no #define " << name;
  return "";
}

DeviceInfo device_of_vendor(Vendor vendor) {
  constexpr MatrixExtension khr = MatrixExtension::Khr;
  const auto halves = [](std::uint32_t m, std::uint32_t n, std::uint32_t k) {
    return CooperativeShape{m, n, k, DType::F16, DType::F32, khr};
  };
  const auto bytes = [](std::uint32_t m, std::uint32_t n, std::uint32_t k) {
    return CooperativeShape{m, n, k, DType::I8, DType::I32, khr};
  };
  DeviceInfo device = contrasting_devices().at(1);
  std::erase(device.features, Feature::CooperativeMatrixNv);
  device.max_workgroup_invocations = 1024;
  device.max_workgroup_size = {1024, 1024, 1024};
  device.max_shared_bytes = 32768;
  switch (vendor) {
    case Vendor::Amd:
      device.subgroup_size = 64;
      device.max_shared_bytes = 65536;
      device.cooperative_shapes = {halves(16, 16, 16), bytes(16, 16, 16)};
      break;
    case Vendor::IntelDg2:
      device.subgroup_size = 8;
      device.cooperative_shapes = {halves(8, 8, 16), bytes(8, 8, 32)};
      break;
    case Vendor::IntelXe2:
      device.subgroup_size = 16;
      device.cooperative_shapes = {halves(8, 16, 16), bytes(8, 16, 32)};
      break;
    case Vendor::Qualcomm:
      device.subgroup_size = 64;
      device.cooperative_shapes = {bytes(64, 16, 32)};
      break;
    case Vendor::Lavapipe:
      device.subgroup_size = 8;
      device.cooperative_shapes = {halves(8, 8, 8), bytes(8, 8, 8)};
      break;
  }
  return device;
}

}  // namespace assay::test
