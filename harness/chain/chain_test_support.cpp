#include "harness/chain/chain_test_support.h"

#include <algorithm>
#include <utility>

namespace assay::test {
namespace {

constexpr Form p4w4c{Storage::Buffer, Layout::P4W4C};
constexpr Form p4c1w{Storage::Buffer, Layout::P4C1W};
constexpr Form p4c{Storage::Buffer, Layout::P4C};

TensorSpec tensor(std::string name, TensorSpec::Role role, DType dtype, Shape shape,
                  std::vector<Form> forms) {
  TensorSpec spec;
  spec.name = std::move(name);
  spec.role = role;
  spec.dtype = dtype;
  spec.shape = std::move(shape);
  spec.forms = std::move(forms);
  return spec;
}

constexpr auto input = TensorSpec::Role::Input;
constexpr auto output = TensorSpec::Role::Output;

/// One dispatch that binds all tensors.
Program one_dispatch(const BuildContext& context) {
  Dispatch dispatch;
  dispatch.label = "work";
  for (std::uint32_t i = 0; i < context.tensors.size(); ++i)
    dispatch.bindings.emplace_back(Resource::tensor(i));
  return {.scratch = {}, .dispatches = {dispatch}, .free_access_because = {}, .unchecked_because = {}};
}

std::optional<std::string> unless_one_form(const ImplPoint& point) {
  if (std::ranges::adjacent_find(point.forms, std::not_equal_to<>()) == point.forms.end())
    return std::nullopt;
  return "all tensors have one form";
}

Op op(std::string name, std::vector<ParamSpec> params,
      std::function<std::vector<TensorSpec>(const Params&)> tensors, bool in_one_form) {
  Op made;
  made.name = std::move(name);
  made.params = std::move(params);
  made.tensors = std::move(tensors);
  made.work = [](const Params&, std::span<const TensorSpec> specs) {
    Work work = streaming_work(specs);
    work.operations = numel(specs.front().shape);
    return work;
  };
  Impl impl;
  impl.name = "only";
  impl.build = one_dispatch;
  if (in_one_form) impl.invalid_reason = unless_one_form;
  made.impls = {impl};
  return made;
}

std::function<std::vector<TensorSpec>(const Params&)> unary(DType dtype, const std::vector<Form>& forms) {
  return [=](const Params& params) -> std::vector<TensorSpec> {
    const Shape& shape = params.ints("shape");
    return {tensor("x", input, dtype, shape, forms), tensor("y", output, dtype, shape, forms)};
  };
}

std::vector<TensorSpec> dense_tensors(const Params& params) {
  const std::int64_t m = params.integer("M"), k = params.integer("K"), n = params.integer("N");
  std::vector<TensorSpec> tensors{tensor("x", input, DType::F32, {m, k}, {wp}),
                                  tensor("w", input, DType::F32, {k, n}, {wp}),
                                  tensor("y", output, DType::F32, {m, n}, {wp})};
  tensors[1].constant = true;
  return tensors;
}

std::vector<TensorSpec> add_tensors(const Params& params) {
  const Shape& shape = params.ints("shape");
  return {tensor("a", input, DType::F32, shape, {wp, hp}), tensor("b", input, DType::F32, shape, {wp, hp}),
          tensor("y", output, DType::F32, shape, {wp, hp})};
}

/// The output has the name of the input with whose data it begins.
std::vector<TensorSpec> update_tensors(const Params& params) {
  const std::int64_t rows = params.ints("shape")[0], columns = params.ints("shape")[1];
  std::vector<TensorSpec> tensors{tensor("x", input, DType::F32, {rows, columns}, {wp}),
                                  tensor("cache", input, DType::F32, {rows + 1, columns}, {wp}),
                                  tensor("cache", output, DType::F32, {rows + 1, columns}, {wp})};
  tensors[2].starts_as = 1;
  tensors[2].written_in_part = true;
  return tensors;
}

std::vector<TensorSpec> peek_tensors(const Params& params) {
  std::vector<TensorSpec> tensors = unary(DType::F32, {wp})(params);
  tensors[0].domain = {.most = 16, .valid = params.ints("shape")[0] - 1};
  return tensors;
}

/// The rows of x alone.
Work update_work(const Params& params, std::span<const TensorSpec>) {
  const std::int64_t bytes = numel(params.ints("shape")) * static_cast<std::int64_t>(sizeof(float));
  return {.bytes_read = bytes, .bytes_written = bytes};
}

}  // namespace

const Registry& chain_ops() {
  static const Registry registry([] {
    std::vector<Op> ops;
    ops.push_back(op("clone", {shape("shape")}, unary(DType::F32, {wp, hp, cp}), false));
    ops.push_back(op("q8ta_clone", {shape("shape")}, unary(DType::I8, {p4w4c, p4c1w, p4c}), false));
    ops.push_back(op("square", {shape("shape")}, unary(DType::F32, {wp, cp}), true));
    ops.push_back(
        op("scale", {shape("shape"), qparams("x"), qparams("y")}, unary(DType::I8, {p4w4c, p4c1w}), true));
    ops.push_back(op("dense", {integer("M").at_least(1), integer("K").at_least(1), integer("N").at_least(1)},
                     dense_tensors, false));
    ops.push_back(op("add", {shape("shape")}, add_tensors, true));
    ops.push_back(op("update", {shape("shape")}, update_tensors, false));
    ops.back().work = update_work;
    ops.push_back(op("peek", {shape("shape")}, peek_tensors, false));
    return ops;
  }());
  return registry;
}

chain::NodeDecl node(const std::string& name, const std::string& op,
                     std::map<std::string, std::string> inputs, std::map<std::string, std::string> outputs,
                     std::map<std::string, chain::ValueOrName> params) {
  const Op* found = chain_ops().find(op);
  return {.name = name,
          .op = found,
          .impl = &found->impls.front(),
          .params = std::move(params),
          .inputs = std::move(inputs),
          .outputs = std::move(outputs)};
}

chain::Chain chain_of(std::vector<chain::NodeDecl> nodes) {
  chain::Chain chain;
  chain.name = "net";
  chain.tensors = {{.name = "x", .dtype = DType::F32, .shape = Value(Shape{2, 3}), .qparams = {}}};
  chain.nodes = std::move(nodes);
  chain.clone = chain_ops().find("clone");
  chain.q8ta_clone = chain_ops().find("q8ta_clone");
  return chain;
}

chain::Chain squares() {
  return chain_of({node("one", "square", {{"x", "x"}}, {{"y", "a"}}),
                   node("keep", "clone", {{"x", "a"}}, {{"y", "b"}}),
                   node("two", "square", {{"x", "b"}}, {{"y", "c"}})});
}

std::vector<std::string> names_of_steps(const chain::LayoutPlan& plan) {
  std::vector<std::string> names;
  for (const chain::Step& step : plan.steps) names.push_back(step.name);
  return names;
}

}  // namespace assay::test
