#include "tests/example/example_linear.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace assay::example {
namespace {

constexpr std::uint32_t local_size = 32;
constexpr std::int64_t lanes = 4;  // values in a packed word
const Resource x = Resource::tensor(0), w = Resource::tensor(1), scale = Resource::tensor(2);
const Resource y = Resource::tensor(3);

struct Sizes {
  explicit Sizes(const Params& params)
      : m(params.integer("M")), k(params.integer("K")), n(params.integer("N")) {}

  std::int64_t m, k, n;
  std::int64_t words() const { return div_up(k, lanes); }  ///< of a packed row of w
};

std::vector<TensorSpec> tensors(const Params& params) {
  const Sizes sizes(params);
  const std::vector<Form> forms = {{Storage::Buffer, Layout::WP}};
  TensorSpec activations{.name = "x", .dtype = DType::F32, .shape = {sizes.m, sizes.k}, .forms = forms};
  TensorSpec weights{
      .name = "w", .constant = true, .dtype = DType::I8, .shape = {sizes.n, sizes.k}, .forms = forms};
  weights.domain = {FillRole::Data, -128, 127};
  TensorSpec scales{
      .name = "scale", .constant = true, .dtype = DType::F32, .shape = {sizes.n}, .forms = forms};
  scales.domain = {.role = FillRole::Scale};
  TensorSpec result{.name = "y", .role = TensorSpec::Role::Output, .dtype = DType::F32};
  result.shape = {sizes.m, sizes.n};
  result.forms = forms;
  result.output_class = OutputClass::Bounded;
  return {activations, weights, scales, result};
}

/// In float64: its own error is nothing beside that of float32.
std::vector<Expected> reference(const Params& params, std::span<const HostTensor> inputs) {
  const Sizes sizes(params);
  const auto values = inputs[0].as<float>();
  const auto weights = inputs[1].as<std::int8_t>();
  const auto scales = inputs[2].as<float>();
  Expected result{.values = HostTensor(DType::F32, {sizes.m, sizes.n})};
  for (std::int64_t i = 0; i < sizes.m * sizes.n; ++i) {
    const std::int64_t row = i / sizes.n, column = i % sizes.n;
    double sum = 0, magnitude = 0;
    for (std::int64_t k = 0; k < sizes.k; ++k) {
      const double product = static_cast<double>(values[static_cast<std::size_t>(row * sizes.k + k)]) *
                             weights[static_cast<std::size_t>(column * sizes.k + k)];
      sum += product;
      magnitude += std::fabs(product);
    }
    const auto factor = static_cast<double>(scales[static_cast<std::size_t>(column)]);
    result.values.as<float>()[static_cast<std::size_t>(i)] = static_cast<float>(sum * factor);
    result.magnitude.push_back(static_cast<float>(magnitude * std::fabs(factor)));
  }
  return {result};
}

Work work(const Params& params, std::span<const TensorSpec> specs) {
  const Sizes sizes(params);
  Work work = streaming_work(specs);
  work.operations = 2 * sizes.m * sizes.n * sizes.k;
  return work;
}

/// gamma(n) of n roundings to float32: Higham, Accuracy and Stability of Numerical Algorithms, 3.1. A float32
/// of the reference's answer is one rounding more.
double gamma_of(std::int64_t roundings) {
  const double nu = static_cast<double>(roundings + 1) * 0x1p-24;
  return nu / (1 - nu);
}

/// Four weights of a column a word, words of neighbouring columns side by side. Its tensors: w, the words.
Program pack_program(const Sizes& sizes) {
  Dispatch dispatch{.label = "pack", .shader = "example_pack.comp", .local_size = {local_size, 1, 1}};
  dispatch.workgroups = fold_grid(sizes.words() * sizes.n, local_size);
  dispatch.constants = {{"depth", static_cast<std::uint32_t>(sizes.k)}};
  dispatch.push.add(sizes.n);
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1)};
  dispatch.role = DispatchRole::Setup;
  return {.dispatches = {std::move(dispatch)}};
}

Program program(const BuildContext& context, Dispatch product) {
  const Sizes sizes(context.params);
  Program program;
  program.scratch = {{"packed", DType::I32, {sizes.words(), sizes.n}, {Storage::Buffer, Layout::WP}}};
  const Resource packed = Resource::scratch(0);
  append(program, pack_program(sizes), std::array{w, packed});
  product.label = "product";
  product.shader = "example_linear.comp";
  product.local_size = {local_size, 1, 1};
  product.constants.push_back({"depth", static_cast<std::uint32_t>(sizes.k)});
  product.push.add(sizes.m).add(sizes.n);
  product.bindings = {x, packed, scale, y};
  program.dispatches.push_back(std::move(product));
  return program;
}

Program summed(const BuildContext& context, std::uint32_t partial_sums) {
  const Sizes sizes(context.params);
  Dispatch product;
  product.defines = {{"STAGED", "0"}};
  product.constants = {{"partial_sums", partial_sums}};
  product.workgroups = fold_grid(sizes.m * sizes.n, local_size);
  return program(context, std::move(product));
}

std::int64_t tile_k(const ImplPoint& point) {
  return point.tuned("tile_k", 64);
}

std::int64_t staged_bytes(const ImplPoint& point) {
  return tile_k(point) * static_cast<std::int64_t>(sizeof(float));
}

Program staged(const BuildContext& context) {
  const Sizes sizes(context.params);
  Dispatch product;
  product.defines = {{"STAGED", "1"}};
  product.constants = {{"tile_k", static_cast<std::uint32_t>(tile_k(context))}};
  product.workgroups = {static_cast<std::uint32_t>(div_up(sizes.n, local_size)),
                        static_cast<std::uint32_t>(sizes.m), 1};
  product.shared_bytes = static_cast<std::uint32_t>(staged_bytes(context));
  return program(context, std::move(product));
}

std::optional<std::string> shared_memory_unsupported_reason(const BuildContext& context) {
  const std::int64_t needed = staged_bytes(context), there = context.device.max_shared_bytes;
  if (needed <= there) return std::nullopt;
  return fmt::format("tile_k {} needs {} bytes of shared memory, maxComputeSharedMemorySize is {}",
                     tile_k(context), needed, there);
}

Impl summing(const std::string& name, std::uint32_t partial_sums) {
  Impl impl{.name = name, .ceiling = Ceiling::Fp32};
  impl.build = [partial_sums](const BuildContext& context) { return summed(context, partial_sums); };
  // The roundings of each term: its product, the additions in its partial sum and of the partial sums, the
  // scale.
  impl.unit_error = [partial_sums](const BuildContext& context) {
    return gamma_of(1 + div_up(Sizes(context.params).k, partial_sums) + partial_sums + 1);
  };
  return impl;
}

}  // namespace

Op linear() {
  Op op{.name = "example_linear", .summary = "a float times an int8 matrix, scaled by column"};
  op.params = {integer("M").at_least(1), integer("K").at_least(1), integer("N").at_least(1)};
  op.tensors = tensors;
  op.reference = reference;
  op.work = work;
  Impl tiled = summing("staged", 1);
  tiled.tunables = {{.name = "tile_k",
                     .fallback = 64,
                     .doc = "values of x in shared memory",
                     .allowed = {32, 64, 1 << 24}}};
  tiled.build = staged;
  tiled.unsupported_reason = shared_memory_unsupported_reason;
  Impl choosing{.name = "auto"};
  choosing.choose = [](const BuildContext&) { return std::vector<std::string>{"staged", "by_fours"}; };
  choosing.tunables = tiled.tunables;
  op.impls = {summing("in_order", 1), summing("by_fours", 4), tiled, choosing};
  return op;
}

Params linear_params(std::int64_t m, std::int64_t k, std::int64_t n) {
  Params params;
  params.set("M", m);
  params.set("K", k);
  params.set("N", n);
  return params;
}

}  // namespace assay::example
