#include "harness/tensor/npy/npy.h"
#include "tests/external/external_ops.h"

#include <algorithm>
#include <string>
#include <vector>

// References of manifests that are no Python: an op of assay, or the cases' own arrays.

namespace assay::test {
namespace {

using ::testing::HasSubstr;

/// An op.yaml in a folder of its own, with a kernel k.comp.
class OtherReference : public External {
 protected:
  void write_floats(const std::string& file, const std::vector<float>& values) {
    HostTensor tensor(DType::F32, {static_cast<std::int64_t>(values.size())});
    std::ranges::copy(values, tensor.as<float>().begin());
    write_npy(folder / file, tensor);
  }
  ProcessResult run_with(const std::string& manifest, std::vector<std::string> more = {}) {
    folder.write("op/op.yaml", manifest);
    return run_ops(folder / "op", std::move(more));
  }
};

TEST_F(OtherReference, MayBeAnOpOfAssay) {
  folder.write("op/k.comp",
               "#version 450\n"
               "layout(local_size_x = 1) in;\n"
               "layout(binding = 0) readonly buffer X { float x[]; };\n"
               "layout(binding = 1) writeonly buffer Y { float y[]; };\n"
               "void main() {\n"
               "  uvec2 at = gl_WorkGroupID.xy;\n"
               "  y[at.y * gl_NumWorkGroups.x + at.x] = x[at.x * gl_NumWorkGroups.y + at.y];\n"
               "}\n");
  const std::string manifest =
      "op: transpose\n"
      "params: {rows: {type: integer, min: 1}, columns: {type: integer, min: 1}}\n"
      "tensors:\n"
      "  a: {dtype: f32, shape: [rows, columns]}\n"
      "  b: {dtype: f32, shape: [columns, rows], role: output}\n"
      "reference: {op: permute, with: {shape: [rows, columns], dims: [1, 0]}, tensors: {x: a, y: b}}\n"
      "impls:\n"
      "  plain: {dispatches: [{shader: k.comp, workgroups: [rows, columns], bind: {x: a, y: b}}]}\n"
      "cases:\n"
      "  - {name: small, tier: smoke, rows: {each: [1, 3]}, columns: {each: [2, 65]}}\n";
  const ProcessResult right = run_with(manifest);
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  EXPECT_THAT(right.out, HasSubstr("PASS                4"));
  const auto error_with = [&](const std::string& what, const std::string& instead) {
    return run_with(replaced(manifest, what, instead)).err;
  };
  EXPECT_THAT(error_with("op: permute", "op: premute"),
              HasSubstr("op.yaml:6:17: error: unknown op of assay 'premute'; did you mean 'permute'?"));
  EXPECT_THAT(error_with("dims: [1, 0]", "dim: [1, 0]"), HasSubstr("unknown parameter of permute 'dim'"));
  EXPECT_THAT(error_with("dims: [1, 0]", "dims: [1, 1]"), HasSubstr("as a parameter of permute"));
  EXPECT_THAT(error_with("dims: [1, 0]", "dims: [0, 1]"),
              HasSubstr("'b' is f32 2x1, and 'y' of permute is f32 1x2"));
  EXPECT_THAT(error_with("{x: a, y: b}}\n", "{x: c, y: b}}\n"), HasSubstr("unknown tensor 'c'"));
  EXPECT_THAT(error_with("tensors: {x: a, y: b}", "tensors: {x: a}"),
              HasSubstr("permute has no output that is 'b'"));
  EXPECT_THAT(error_with("{x: a, y: b}}\n", "{x: a, y: b, z: a}}\n"),
              HasSubstr("unknown tensor of permute 'z'"));
  EXPECT_THAT(error_with("role: output}", "role: output, tolerance: {rel: 0.001, reason: test}}"),
              HasSubstr("'b' is exact, by the op that answers, and its tolerance would change nothing"));
  EXPECT_THAT(error_with("role: output}", "role: output, class: exact}"),
              HasSubstr("has the class of the op that answers"));
}

/// Such a kernel is timed in batches, as it finds nothing that it could use: it may not read what it updates.
TEST_F(OtherReference, ThatWritesAPartOfAnOutputMakesTheKernelDoSo) {
  const std::string kernel =
      "#version 450\n"
      "layout(local_size_x = 1) in;\n"
      "layout(binding = 0) readonly buffer X { float x[]; };\n"
      "layout(binding = 1) buffer Cache { float cache[]; };\n"
      "layout(push_constant) uniform Push { uint first; };\n"
      "void main() {\n"
      "  uint i = gl_WorkGroupID.x;\n"
      "  cache[first + i] = x[i];\n"
      "}\n";
  const std::string manifest =
      "op: append\n"
      "params: {tokens: {type: integer, min: 1}, rows: {type: integer, min: 1}, at: {type: integer, min: "
      "0}}\n"
      "tensors:\n"
      "  x: {dtype: f32, shape: [1, tokens, 2, 8]}\n"
      "  kv: {dtype: f32, shape: [1, rows, 2, 8], role: inout}\n"
      "work: {bytes_read: tokens * 64, bytes_written: tokens * 64}\n"
      "reference: {op: update_cache, with: {S: tokens, Hkv: 2, D: 8, C: rows, start_pos: at}, "
      "tensors: {cache: kv}}\n"
      "impls:\n"
      "  plain: {dispatches: [{shader: k.comp, workgroups: [tokens * 16], push: {first: at * 16}, "
      "bind: {X: x, Cache: kv}}]}\n"
      "cases:\n"
      "  - {name: small, tier: smoke, mode: both, tokens: 3, rows: 9, at: {each: [0, 4]}}\n";
  folder.write("op/k.comp", kernel);
  const ProcessResult right = run_with(manifest, {"--budget", "0.05"});
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  EXPECT_THAT(right.out, HasSubstr("PASS                4"));
  const std::vector<std::string> batches =
      column_of(read_file(device_folder(folder / "out") / "perf.csv"), "throughput_us");
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_NE(batches[0], "") << "programs that update in place have none";
  folder.write("op/k.comp", replaced(kernel, "= x[i]", "= max(x[i], cache[first + i])"));
  const ProcessResult reading = run_with(manifest);
  EXPECT_EQ(reading.exit_code, 1);
  EXPECT_THAT(reading.out, HasSubstr("the shader reads"));
  folder.write("op/k.comp", replaced(kernel, "first + i]", "first + i + 16]"));
  EXPECT_THAT(run_with(manifest).out, HasSubstr("elements of 'kv' that the op writes were never written"));
}

/// Its reference tells for each element how far an error of one unit of an accumulator goes.
TEST_F(OtherReference, OfProductsTakesTheUnitErrorOfTheKernels) {
  folder.write("op/k.comp",
               "#version 450\n"
               "#extension GL_EXT_shader_8bit_storage : require\n"
               "#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require\n"
               "layout(local_size_x = 1) in;\n"
               "layout(binding = 0) readonly buffer X { float x[]; };\n"
               "layout(binding = 1) readonly buffer W { int8_t w[]; };\n"
               "layout(binding = 2) readonly buffer S { float scale[]; };\n"
               "layout(binding = 3) writeonly buffer Y { float y[]; };\n"
               "layout(push_constant) uniform Push { uint K; };\n"
               "void main() {\n"
               "  uvec2 at = gl_WorkGroupID.xy;\n"
               "  float sum = 0;\n"
               "  for (uint k = 0; k < K; ++k) sum += x[at.y * K + k] * float(w[at.x * K + k]);\n"
               "  y[at.y * gl_NumWorkGroups.x + at.x] = sum * scale[at.x];\n"
               "}\n");
  const std::string manifest =
      "op: my_linear\n"
      "params: {M: {type: integer, min: 1}, N: {type: integer, min: 1}, K: {type: integer, min: 4}}\n"
      "tensors:\n"
      "  x: {dtype: f32, shape: [M, K]}\n"
      "  w: {dtype: i8, shape: [N, K]}\n"
      "  s: {dtype: f32, shape: [N]}\n"
      "  y: {dtype: f32, shape: [M, N], role: output, tolerance: {unit: 4.0e-6, reason: sums of 64}}\n"
      "reference: {op: linear_q8csw, tensors: {w_scale: s}}\n"
      "impls:\n"
      "  plain: {dispatches: [{shader: k.comp, workgroups: [N, M], push: {K: K}, bind: {x: x, w: w, scale: "
      "s, "
      "y: y}}]}\n"
      "cases:\n"
      "  - {name: small, tier: smoke, M: 3, N: 5, K: 64}\n";
  const ProcessResult right = run_with(manifest);
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  const std::string without = replaced(manifest, ", tolerance: {unit: 4.0e-6, reason: sums of 64}", "");
  EXPECT_THAT(run_with(without).out, HasSubstr("give the unit error of your kernels"));
}

TEST_F(OtherReference, MayBeTheCasesThemselves) {
  folder.write("op/k.comp",
               "#version 450\n"
               "layout(local_size_x = 1) in;\n"
               "layout(binding = 0) readonly buffer X { float x[]; };\n"
               "layout(binding = 1) writeonly buffer Y { float y[]; };\n"
               "void main() { y[gl_WorkGroupID.x] = 3.0 * x[gl_WorkGroupID.x]; }\n");
  write_floats("op/x.npy", {1, 2, 5, 7});
  write_floats("op/y.npy", {3, 6, 15, 21});
  write_floats("op/wrong.npy", {3, 6, 15, 22});
  const std::string manifest =
      "op: thrice\n"
      "params: {n: {type: integer, min: 1}}\n"
      "tensors:\n"
      "  x: {dtype: f32, shape: [n]}\n"
      "  y: {dtype: f32, shape: [n], role: output, class: bounded, tolerance: {abs: 1.0e-6, reason: test}}\n"
      "reference: cases\n"
      "impls:\n"
      "  plain: {dispatches: [{shader: k.comp, workgroups: [n], bind: {x: x, y: y}}]}\n"
      "cases:\n"
      "  - {name: a, tier: smoke, n: 4, fill: {x: {npy: x.npy}}, expected: {y: {npy: y.npy}}}\n";
  const ProcessResult right = run_with(manifest);
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  const auto with = [&](const std::string& what, const std::string& instead) {
    return run_with(replaced(manifest, what, instead));
  };
  const ProcessResult wrong = with("y.npy}}}", "wrong.npy}}}");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.out, HasSubstr("y[3]: expected 22"));
  EXPECT_THAT(wrong.out, HasSubstr("wrong.npy")) << "the file is what was missed";
  const ProcessResult tolerated =
      with("y.npy}}}", "wrong.npy}}, tolerance: {abs: 1.5, reason: another library}}");
  EXPECT_EQ(tolerated.exit_code, 0) << tolerated.out;
  const ProcessResult without = with(", expected: {y: {npy: y.npy}}", "");
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("thrice has no reference, so that each case brings its answers"));
}

}  // namespace
}  // namespace assay::test
