#include "ops/linear/product.h"

#include "ops/linear/linear_test_support.h"
#include "ops/linear/tensors.h"
#include "references/affine/affine.h"
#include "references/choose_qparams/choose_qparams.h"
#include "tests/support/on_device.h"

#include <algorithm>

namespace assay::ops {

// Compares rows quantized inside a linear op with choose_qparams and quantize_affine on the CPU. The op here
// computes only these rows: the scratch of a linear op is its outputs.

namespace {

using namespace test;
using references::Linear;

const Form in_buffer{Storage::Buffer, Layout::WP}, in_texture{Storage::Texture3D, Layout::WP};

Linear linear_of(const Params& params) {
  return references::linear_params(params, references::most_depth);
}

/// The parameters of quantize_affine for one block per row.
Params affine_params(const Params& params) {
  const Shape shape = linear_of(params).x_shape();
  std::vector<std::int64_t> block(shape.size(), 1);
  block.back() = -1;
  Params affine;
  affine.set("shape", shape);
  affine.set("block_size", std::move(block));
  affine.set("dtype", params.choice("dtype"));
  affine.set("quantized", std::string("i8"));
  affine.set("quant_min", std::int64_t{-128});
  affine.set("quant_max", std::int64_t{127});
  affine.set("zero_point_domain", std::string("int"));
  return affine;
}

std::vector<TensorSpec> tensors(const Params& params, bool given) {
  const Linear linear = linear_of(params);
  TensorSpec values = int8_y(linear, {{Storage::Buffer, Layout::P4W}});
  values.name = "values";
  values.shape = linear.x_shape();
  std::vector<TensorSpec> all{real_x(linear), std::move(values)};
  for (TensorSpec& of_row : row_qparams(linear)) {
    of_row.name = (given ? "" : "chosen_") + of_row.name;  // quantize_rows looks for x_scale
    of_row.role = given ? TensorSpec::Role::Input : TensorSpec::Role::Output;
    all.insert(given ? all.end() - 1 : all.end(), std::move(of_row));
  }
  return all;
}

std::vector<Expected> reference(const Params& params, std::span<const HostTensor> inputs, bool given) {
  const Params affine = affine_params(params);
  if (given) return references::quantize_affine(affine, inputs);
  const references::BlockGrid grid = references::block_grid(affine.ints("shape"), affine.ints("block_size"));
  std::vector<Expected> chosen = references::choose_qparams(
      {grid, inputs[0].dtype(), references::QParamsRule::PerRow, references::QParamsLimits{}}, inputs);
  const Shape row_shape = linear_of(params).row_shape();
  const std::vector<HostTensor> all{inputs[0], chosen[0].values, chosen[1].values};
  std::vector<Expected> outputs = references::quantize_affine(affine, all);
  for (Expected& of_row : chosen) {
    HostTensor reshaped(of_row.values.dtype(), row_shape);
    std::ranges::copy(of_row.values.bytes(), reshaped.bytes().begin());
    outputs.push_back({.values = std::move(reshaped)});
  }
  return outputs;
}

Program program(const BuildContext& context) {
  Program program;
  const QuantizedRows rows = quantize_rows(program, context, linear_of(context.params));
  // Scratch becomes the outputs, in the order in which it was made.
  const auto first = static_cast<std::uint32_t>(
      std::ranges::find(context.tensors, "values", &TensorSpec::name) - context.tensors.begin());
  EXPECT_EQ(rows.values, Resource::scratch(0));
  for (Dispatch& dispatch : program.dispatches) {
    for (Binding& binding : dispatch.bindings) {
      if (binding.resource.kind == Resource::Kind::Scratch)
        binding.resource = Resource::tensor(first + binding.resource.index);
    }
  }
  program.scratch.clear();
  return program;
}

Op rows_op(bool given) {
  Op op{.name = given ? "rows_given" : "rows_chosen"};
  op.params = linear_params({real_dtype_param("of x")});
  op.tensors = [given](const Params& params) { return tensors(params, given); };
  op.reference = [given](const Params& params, std::span<const HostTensor> inputs) {
    return reference(params, inputs, given);
  };
  op.impls = {{.name = "rows", .tunables = {}, .build = program}};
  return op;
}

class QuantizeRowsTest : public OnDeviceTest {
 protected:
  Trial trial_of(const Op& op, const Shape& batch, std::int64_t m, std::int64_t k, Form x) {
    Params params;
    params.set("batch", batch);
    params.set("M", m);
    params.set("K", k);
    params.set("N", std::int64_t{1});
    Trial trial{.op = &op, .params = std::move(params), .fill = FillKind::Mixed, .seed = 21};
    return in_form(std::move(trial), "f32", x);
  }

  Trial in_form(Trial trial, const std::string& dtype, Form x) {
    trial.params.set("dtype", dtype);
    trial.params = with_defaults(*trial.op, trial.params);
    trial.forms.clear();
    for (const TensorSpec& tensor : trial.op->tensors(trial.params))
      trial.forms.push_back(tensor.name == "x" ? x : tensor.forms.front());
    return trial;
  }

  const Op chosen = rows_op(false), given = rows_op(true);
};

TEST_F(QuantizeRowsTest, RowsOfEveryKindOfXAreRight) {
  for (const Op* op : {&chosen, &given}) {
    for (const Form x : {in_buffer, in_texture}) {
      for (const std::string dtype : {"f32", "f16"}) {
        for (const auto& [batch, m, k] : {std::tuple{Shape{}, 1, 8},
                                          {Shape{}, 5, 64},
                                          {Shape{3}, 7, 136},
                                          {Shape{2, 3}, 5, 24},
                                          {Shape{2}, 1, 2048}}) {
          expect_right(in_form(trial_of(*op, batch, m, k, x), dtype, x));
        }
      }
    }
  }
}

TEST_F(QuantizeRowsTest, EveryFillIsRight) {
  for (const Op* op : {&chosen, &given}) {
    for (const FillKind fill : {FillKind::Normal, FillKind::Ties, FillKind::Wide, FillKind::Outlier,
                                FillKind::Special, FillKind::Zero, FillKind::Nan}) {
      Trial trial = trial_of(*op, {}, 13, 136, in_buffer);
      trial.fill = fill;
      trial.fills = {{"x_scale", {.kind = FillKind::Normal}}, {"x_zero_point", {.kind = FillKind::Normal}}};
      expect_right(trial);
    }
  }
}

// A row is complete where its quads are whole shares of its invocations, and is then read without a check;
// 65536 values are more than its invocations keep.
TEST_F(QuantizeRowsTest, OneRowOfAnyLengthIsRight) {
  for (const Op* op : {&chosen, &given}) {
    for (const auto& [k, complete] : {std::pair<std::int64_t, bool>{2048, true},
                                      {4096, true},
                                      {14336, true},
                                      {14344, false},
                                      {65536, false}}) {
      const Trial trial = trial_of(*op, {}, 1, k, in_buffer);
      const Dispatch dispatch = program_of(trial).dispatches.at(0);
      EXPECT_EQ(dispatch.workgroups, (std::array<std::uint32_t, 3>{1, 1, 1}));
      EXPECT_EQ(constant_of(dispatch, "complete"), complete ? 1U : 0U) << k;
      expect_right(trial);
    }
  }
}

TEST_F(QuantizeRowsTest, SizesOfFewRowsAreBuiltInOnAGpu) {
  for (const Op* op : {&chosen, &given}) {
    for (const Form x : {in_buffer, in_texture}) {
      for (const auto& [batch, m, baked] : {std::tuple<Shape, std::int64_t, bool>{{}, 1, true},
                                            {{}, 16, true},
                                            {{3}, 5, true},
                                            {{}, 17, false}}) {
        Trial trial = trial_of(*op, batch, m, 520, x);
        EXPECT_EQ(constant_of(program_of(trial).dispatches.at(0), "baked"), 0U) << "on a CPU";
        trial.as_if = [](DeviceInfo& device) { device.type = "discrete"; };
        EXPECT_EQ(constant_of(program_of(trial).dispatches.at(0), "baked"), baked ? 1U : 0U);
        expect_right(trial);
      }
    }
  }
}

TEST_F(QuantizeRowsTest, ManyRowsAreRight) {
  for (const Op* op : {&chosen, &given}) {
    expect_right(trial_of(*op, {}, 1024, 512, in_buffer));  // complete, and all invocations of a row compute
    expect_right(trial_of(*op, {3}, 171, 520, in_texture));
  }
}

// Runs every impl of every linear op on random points and compares it with its reference.

struct OpImpl {
  std::string op, impl;
};

/// The impls that build programs: all but `auto`.
std::vector<OpImpl> op_impls() {
  std::vector<OpImpl> all;
  const Registry ops = registry();
  for (const Op& op : ops.ops()) {
    if (op.name.find("linear") == std::string::npos) continue;
    for (const Impl& impl : op.impls) {
      if (impl.build) all.push_back({op.name, impl.name});
    }
  }
  return all;
}

class LinearProducts : public LinearTest, public testing::WithParamInterface<OpImpl> {};

TEST_P(LinearProducts, AgreeWithTheReferenceOnRandomPoints) {
  const std::string& impl = GetParam().impl;
  const bool tiled = impl.starts_with("tiled") || impl == "dot4x8" || impl == "coopmat";
  try_points(op_of(GetParam().op), impl, tiled ? 3 : 5, tiled ? Sizes{70, 150, 70} : Sizes{5, 700, 40});
}

INSTANTIATE_TEST_SUITE_P(Of, LinearProducts, testing::ValuesIn(op_impls()),
                         [](const auto& of) { return of.param.op + "_by_" + of.param.impl; });

}  // namespace

}  // namespace assay::ops
