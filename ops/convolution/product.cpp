#include "ops/convolution/product.h"

#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/convolution/tensors.h"
#include "ops/linear/product.h"
#include "ops/linear/tensors.h"

#include <string_view>
#include <utility>

namespace assay::ops {
namespace {

using references::Convolution;

constexpr Form int8_rows{Storage::Buffer, Layout::P4W};
constexpr Form words_of_channels{Storage::Buffer, Layout::P4C};
constexpr Form row_major{Storage::Buffer, Layout::WP};
constexpr std::uint32_t setup_local_size = 64;

bool is_real(const ImplPoint& point) {
  return point.tensors[0].dtype != DType::I8;
}

Params linear_params_of(const Params& of_convolution, std::int64_t depth) {
  const Convolution conv = references::checked_convolution(of_convolution);
  Params params;
  params.set("batch", Shape{});
  params.set("M", conv.pixels_of_y());
  params.set("K", depth);
  params.set("N", conv.oc);
  for (const std::string_view name : {"bias", "activation", "dtype", "epilogue", "x", "y"}) {
    if (of_convolution.has(name)) params.set(std::string(name), of_convolution.at(name));
  }
  return params;
}

}  // namespace

LinearPoint::LinearPoint(const ImplPoint& convolution, const Physical& x, std::int64_t depth, Tune tune)
    : params_(linear_params_of(convolution.params, depth)), tune_(std::move(tune)) {
  const Convolution conv = references::checked_convolution(convolution.params);
  TensorSpec images{.name = "x", .dtype = x.dtype(), .shape = x.shape(), .forms = {x.form()}};
  tensors_.push_back(std::move(images));
  forms_.push_back(x.form());
  tensors_.push_back(constant_tensor("w", DType::I8, {conv.oc, depth}));
  forms_.push_back(row_major);
  for (std::size_t i = 2; i < convolution.tensors.size(); ++i) {
    tensors_.push_back(convolution.tensors[i]);
    forms_.push_back(convolution.forms[i]);
  }
}

void LinearPoint::set_rows(std::int64_t rows, Layout layout) {
  params_.set("M", rows);
  tensors_.front().shape = {rows, params_.integer("K")};
  tensors_.back().shape = {rows, params_.integer("N")};
  forms_.front().layout = forms_.back().layout = layout;
}

std::vector<Resource> LinearPoint::resources(Resource x, Resource w) const {
  std::vector<Resource> resources{x, w};
  for (std::size_t i = 2; i < tensors_.size(); ++i) {
    resources.push_back(Resource::tensor(static_cast<std::uint32_t>(i)));
  }
  return resources;
}

Physical integer_images_form(const ImplPoint& point) {
  const Physical given = point.physical(0);
  return is_real(point) ? Physical(words_of_channels, DType::I8, given.shape()) : given;
}

std::optional<std::string> integer_images_invalid_reason(const ImplPoint& point) {
  if (auto reason = convolution_invalid_reason(point)) return reason;
  const auto reason = excluded([&] { return too_large(integer_images_form(point)); });
  return reason ? std::optional("quantized x: " + *reason) : std::nullopt;
}

TensorAt integer_images(Program& program, const BuildContext& context) {
  return is_real(context) ? quantized_x(program, context, words_of_channels) : tensor_named(context, "x");
}

void set_pixel_grid(Dispatch& product, const BuildContext& context, const Gathering& gathering,
                    std::int64_t pixels, std::int64_t columns) {
  const Convolution& conv = gathering.conv;
  const std::int64_t columns_of_row = div_up(conv.size_of_y()[1], pixels);
  product.defines.push_back({"PIXELS", std::to_string(pixels)});
  set_constant(product, "kernel_height", conv.kernel[0]);
  set_constant(product, "columns_of_row", columns_of_row);
  set_grid(product, context, columns_of_row * conv.n * conv.size_of_y()[0] * gathering.tiles(columns));
}

Resource weight_rows(Program& program, const BuildContext& context, const Gathering& gathering,
                     std::int64_t depth) {
  const Convolution conv = references::checked_convolution(context.params);
  const Resource rows = add_scratch(
      program, {.name = "w_rows", .dtype = DType::I8, .shape = {conv.oc, depth}, .form = row_major});
  const std::int64_t words = div_up(conv.oc * depth, std::int64_t{4});
  Dispatch dispatch{.label = "weight rows", .shader = "conv_weights.comp"};
  dispatch.role = DispatchRole::Setup;
  dispatch.local_size = {setup_local_size, 1, 1};
  dispatch.workgroups = fold_grid(words, setup_local_size, context.device.max_workgroup_count[0]);
  dispatch.defines = {{"TRANSPOSED", flag(conv.transposed)}};
  dispatch.push.add(words).add(conv.oc).add(depth);
  add(dispatch.push, divider(depth));
  dispatch.push.add(conv.taps()).add(4 * gathering.tap_words);
  dispatch.push.add(conv.channels_of_group()).add(conv.outputs_of_group());
  dispatch.push.add(gathering.channels_of_group).add(gathering.outputs_of_group);
  dispatch.bindings = {tensor_named(context, "w").resource, rows};
  program.dispatches.push_back(std::move(dispatch));
  return rows;
}

}  // namespace assay::ops
