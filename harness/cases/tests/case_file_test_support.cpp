#include "harness/cases/tests/case_file_test_support.h"

#include "harness/base/error.h"
#include "harness/cases/describe/describe.h"

#include <gtest/gtest.h>

#include <ostream>
#include <sstream>
#include <utility>

namespace assay::test {
namespace {

Form buffer(Layout layout) {
  return {Storage::Buffer, layout};
}

TensorSpec input(std::string name, DType dtype, Shape shape, std::vector<Form> forms,
                 FillDomain domain = {}) {
  TensorSpec tensor;
  tensor.name = std::move(name);
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.forms = std::move(forms);
  tensor.domain = domain;
  return tensor;
}

TensorSpec output(std::string name, DType dtype, Shape shape, std::vector<Form> forms) {
  TensorSpec tensor = input(std::move(name), dtype, std::move(shape), std::move(forms));
  tensor.role = TensorSpec::Role::Output;
  return tensor;
}

std::vector<TensorSpec> pixel_shuffle_tensors(const Params& params) {
  const Shape& in = params.ints("shape");
  const std::int64_t r = params.integer("upscale_factor");
  if (in[1] % (r * r) != 0) {
    throw ParameterError("shape", "shape has " + std::to_string(in[1]) + " channels, which " +
                                      std::to_string(r * r) + " (upscale_factor^2) does not divide");
  }
  const std::vector<Form> forms{buffer(Layout::P4W4C), buffer(Layout::P4C1W)};
  const Shape out{in[0], in[1] / (r * r), in[2] * r, in[3] * r};
  return {input("x", DType::I8, in, forms, {FillRole::Data, -128, 127}), output("y", DType::I8, out, forms)};
}

std::optional<std::string> only_4w4c(const ImplPoint& point) {
  for (const Form form : point.forms) {
    if (form.layout != Layout::P4W4C) return "unfused reads and writes 4W4C only";
  }
  return std::nullopt;
}

Impl impl(std::string name, std::string summary) {
  Impl result;
  result.name = std::move(name);
  result.summary = std::move(summary);
  return result;
}

Tunable local_size() {
  return {"local_size", 0, 1, 1024, "invocations of a workgroup"};
}

Op pixel_shuffle() {
  Op op;
  op.name = "q8ta_pixel_shuffle";
  op.summary = "pixel shuffle on int8x4 tensors, with requantization";
  op.params = {shape("shape", rank(4)).says("of x"), integer("upscale_factor").at_least(1).at_most(64),
               qparams("x"), qparams("y")};
  op.tensors = pixel_shuffle_tensors;
  Impl fused = impl("fused", "one dispatch");
  fused.needs = {Feature::Int8};
  fused.tunables = {local_size()};
  Impl unfused = impl("unfused", "five dispatches");
  unfused.invalid_reason = only_4w4c;
  op.impls = {fused, unfused};
  return op;
}

Shape block_counts(const Params& params) {
  const Shape& shape = params.ints("shape");
  const Shape& block = params.ints("block_size");
  if (shape.size() != block.size()) {
    throw ParameterError("block_size", "block_size has " + std::to_string(block.size()) +
                                           " entries, shape has " + std::to_string(shape.size()));
  }
  Shape counts;
  for (std::size_t i = 0; i < shape.size(); ++i)
    counts.push_back(block[i] < 1 ? 1 : div_up(shape[i], block[i]));
  return counts;
}

std::vector<TensorSpec> quantize_tensors(const Params& params) {
  const Shape counts = block_counts(params);
  const Shape& shape = params.ints("shape");
  const DType real = params.choice("dtype") == "f16" ? DType::F16 : DType::F32;
  const std::vector<Form> forms{
      buffer(Layout::WP), {Storage::Texture3D, Layout::CP}, {Storage::Texture2D, Layout::WP}};
  const std::vector<Form> plain{buffer(Layout::WP)};
  const FillDomain range{FillRole::ZeroPoint, static_cast<double>(params.integer("quant_min")),
                         static_cast<double>(params.integer("quant_max"))};
  const FillDomain reals{.lo = -4, .hi = 4, .most = 0x1p100};
  return {input("x", real, shape, forms, reals),
          input("scale", DType::F32, counts, plain, {FillRole::Scale, 0, 0}),
          input("zero_point", DType::I32, counts, plain, range), output("q", DType::I8, shape, forms)};
}

Op quantize() {
  Op op;
  op.name = "quantize_affine";
  op.summary = "real to integer values, one scale and zero point a block";
  op.params = {shape("shape", rank(1, 4)),
               ints("block_size", rank(1, 4)).says("elements of a block; -1 is the whole dim"),
               choice("dtype", {"f32", "f16"}).by_default(std::string("f32")),
               choice("quantized", {"i8", "u8", "i32"}).by_default(std::string("i8")),
               integer("quant_min").by_default(std::int64_t{-128}),
               integer("quant_max").by_default(std::int64_t{127}),
               number("eps").by_default(0.5),
               boolean("symmetric").by_default(false)};
  op.tensors = quantize_tensors;
  Impl elementwise = impl("elementwise", "one invocation four elements");
  elementwise.tunables = {local_size(), {"vectors_per_invocation", 1, 1, 4, "quads of an invocation"}};
  op.impls = {elementwise};
  return op;
}

std::vector<TensorSpec> dequantize_tensors(const Params& params) {
  const Shape& shape = params.ints("shape");
  const DType real = params.choice("dtype") == "f16" ? DType::F16 : DType::F32;
  TensorSpec y = output("y", real, shape, {buffer(Layout::WP)});
  if (real == DType::F16) y.output_class = OutputClass::Bounded;
  return {input("x", DType::I8, shape, {buffer(Layout::WP)}, {FillRole::Data, -128, 127}), y};
}

Op dequantize() {
  Op op;
  op.name = "q8ta_dequantize";
  op.summary = "int8 to real values";
  op.params = {shape("shape", rank(1, 4)), qparams("x"),
               choice("dtype", {"f32", "f16"}).by_default(std::string("f32"))};
  op.tensors = dequantize_tensors;
  op.impls = {impl("tiled", "one dispatch")};
  return op;
}

}  // namespace

const Registry& fake_ops() {
  static const Registry registry({pixel_shuffle(), quantize(), dequantize()});
  return registry;
}

LoadResult load_text(const TemporaryFolder& folder, std::string_view text, const LoadOptions& options) {
  const std::filesystem::path files[] = {folder.write("case.yaml", text)};
  return load_cases(files, fake_ops(), options);
}

LoadResult load_text(std::string_view text, const LoadOptions& options) {
  const TemporaryFolder folder;
  return load_text(folder, text, options);
}

std::vector<Case> load_good(std::string_view text, const LoadOptions& options) {
  const TemporaryFolder folder;
  LoadResult result = load_text(folder, text, options);
  EXPECT_EQ(messages(folder, result.errors), "");
  return std::move(result.cases);
}

std::vector<std::string> ids_of(const std::vector<Case>& cases) {
  std::vector<std::string> ids;
  for (const Case& test_case : cases) ids.push_back(test_case.id);
  return ids;
}

std::string listed(std::span<const Case* const> cases, bool details) {
  std::ostringstream out;
  list_cases(cases, details, out);
  return out.str();
}

std::string messages(const TemporaryFolder& folder, const std::vector<Diagnostic>& errors) {
  std::string text;
  for (const Diagnostic& error : errors) text += (text.empty() ? "" : "\n") + to_string(error);
  return folder.without_path(text);
}

std::string dequantize_case(std::string_view extra) {
  return "op: q8ta_dequantize\n"
         "cases:\n"
         "  - name: one\n"
         "    shape: [64]\n"
         "    x: {scale: 0.5, zero_point: 1}\n"
         "    dtype: f16\n" +
         std::string(extra);
}

std::string pixel_shuffle_case(std::string_view extra) {
  return "op: q8ta_pixel_shuffle\n"
         "cases:\n"
         "  - name: one\n"
         "    upscale_factor: 2\n"
         "    shape: [1, 16, 4, 4]\n"
         "    x: {scale: 0.5, zero_point: 1}\n"
         "    y: {scale: 0.25, zero_point: -3}\n" +
         std::string(extra);
}

std::ostream& operator<<(std::ostream& stream, const BadInput& input) {
  return stream << input.name;
}

std::string name_of_bad_input(const testing::TestParamInfo<BadInput>& info) {
  return info.param.name;
}

std::string with(std::string text, std::string_view old, std::string_view replacement) {
  const std::size_t at = text.find(old);
  if (at == std::string::npos) {
    ADD_FAILURE() << "there is no " << old;
    return text;
  }
  return text.replace(at, old.size(), replacement);
}

void BadInputTest::expect_message(const BadInput& input) {
  const TemporaryFolder folder;
  std::istringstream lines(input.files);
  std::string name = "case.yaml", text;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("=== ")) {
      folder.write(name, text);
      name = line.substr(4);
      text.clear();
    } else {
      text += line + '\n';
    }
  }
  folder.write(name, text);
  const std::filesystem::path files[] = {folder.path() / "case.yaml"};
  const LoadResult result = load_cases(files, fake_ops());
  EXPECT_EQ(messages(folder, result.errors), input.message);
  EXPECT_EQ(result.cases.size(), input.cases);
}

}  // namespace assay::test
