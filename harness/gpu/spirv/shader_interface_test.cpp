#include "harness/gpu/spirv/shader_interface.h"

#include "tests/support/gpu.h"

#include <random>

namespace assay::gpu {
namespace {

using namespace test;

using Kind = ShaderBinding::Kind;
using Values = std::map<std::uint32_t, std::uint32_t>;

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ShaderInterfaceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { static const GlslangProcess shared; }  // saves time: see GpuTest

  std::vector<std::uint32_t> compile(const std::string& text) {
    sources.write("s.comp", text);
    return ShaderLibrary({.directories = {sources.path()}, .cache_directory = {}})
        .compile("s.comp", {})
        .words;
  }

  ShaderInterface read(const std::string& declarations, const std::string& body, const Values& values = {}) {
    const std::vector<std::uint32_t> words = compile(shader_text(declarations, body));
    const ShaderInterface found = interface_of(words, values);
    return found;
  }

  TemporaryFolder sources;
};

TEST_F(ShaderInterfaceTest, HasTheBindingsThatAreUsedInOrder) {
  const ShaderInterface found = read(
      "layout(set = 7, binding = 1) buffer A { uint a[]; };\n"
      "layout(set = 0, binding = 9) readonly buffer B { uint b[]; } named;\n"
      "layout(set = 0, binding = 2) buffer C { uint c[]; };\n",
      "a[0] = named.b[0];");
  ASSERT_EQ(found.bindings.size(), 2U) << "C is used by nobody";
  EXPECT_EQ(found.bindings[0].set, 0U);
  EXPECT_EQ(found.bindings[0].binding, 9U);
  EXPECT_EQ(found.bindings[0].name, "named");
  EXPECT_TRUE(found.bindings[0].readonly);
  EXPECT_EQ(found.bindings[1].set, 7U);
  EXPECT_EQ(found.bindings[1].binding, 1U);
  EXPECT_EQ(found.bindings[1].name, "A");
  EXPECT_FALSE(found.bindings[1].readonly);
  for (const ShaderBinding& one : found.bindings) EXPECT_EQ(one.kind, Kind::StorageBuffer);
}

TEST_F(ShaderInterfaceTest, CountsWhatAFunctionUsesThatIsCalledAndNoneThatIsNot) {
  const std::string declarations = buffers({"x", "y", "z"}) +
                                   "uint deeper() { return x.data[0]; }\n"
                                   "uint called() { return deeper(); }\n"
                                   "uint forgotten() { return z.data[0]; }\n";
  const ShaderInterface found = read(declarations, "y.data[0] = called();");
  ASSERT_EQ(found.bindings.size(), 2U);
  EXPECT_EQ(found.bindings[0].name, "x");
  EXPECT_EQ(found.bindings[1].name, "y");
}

TEST_F(ShaderInterfaceTest, ABufferIsReadonlyWhenAllItsMembersAre) {
  const ShaderInterface found = read(
      "layout(set = 0, binding = 0) buffer A { readonly uint n; uint a[]; };\n"
      "layout(set = 0, binding = 1) buffer B { readonly uint m; readonly uint b[]; };\n",
      "a[n] = b[m];");
  EXPECT_FALSE(found.bindings[0].readonly);
  EXPECT_TRUE(found.bindings[1].readonly);
}

TEST_F(ShaderInterfaceTest, KnowsWhatIsRead) {
  const auto reads = [&](const std::string& body, const std::string& functions = "") {
    for (const ShaderBinding& one : read(buffers({"x", "y"}) + functions, body).bindings) {
      if (one.name == "y") return one.is_read;
    }
    return false;
  };
  EXPECT_FALSE(reads("y.data[0] = x.data[0];"));
  EXPECT_FALSE(reads("y.data[x.data[0]] = x.data[y.data.length()];"));
  EXPECT_FALSE(reads("atomicAnd(y.data[0], 1u); atomicOr(y.data[0], x.data[0]);"))
      << "what was there is dropped";
  EXPECT_TRUE(reads("x.data[0] = atomicOr(y.data[0], 0u);"));
  EXPECT_TRUE(reads("x.data[0] = y.data[0];"));
  EXPECT_TRUE(reads("if (y.data[3] == 7u) return; y.data[0] = x.data[0];")) << "a mark";
  EXPECT_TRUE(reads("y.data[1] += 1u;"));
  EXPECT_TRUE(reads("x.data[0] = mark();", "uint mark() { return y.data[2]; }\n"));
  EXPECT_FALSE(reads("set(4u);", "void set(uint i) { y.data[i] = i; }\n"));
}

TEST_F(ShaderInterfaceTest, KnowsWhatIsWritten) {
  const auto writes = [&](const std::string& body, const std::string& functions = "") {
    for (const ShaderBinding& one : read(buffers({"x", "y"}) + functions, body).bindings) {
      if (one.name == "y") return one.is_written;
    }
    return false;
  };
  EXPECT_FALSE(writes("x.data[0] = y.data[0];"));
  EXPECT_FALSE(writes("x.data[0] = y.data.length();"));
  EXPECT_TRUE(writes("y.data[0] = x.data[0];"));
  EXPECT_TRUE(writes("atomicAdd(y.data[0], 1u);"));
  EXPECT_TRUE(writes("set(4u);", "void set(uint i) { y.data[i] = i; }\n"));
}

TEST_F(ShaderInterfaceTest, KnowsWhatAtomicsUpdate) {
  const auto updates = [&](const std::string& body) {
    for (const ShaderBinding& one : read(buffers({"x", "y"}), body).bindings) {
      if (one.name == "y") return one.is_updated;
    }
    return false;
  };
  for (const std::string atomic : {"Add(", "Min(", "Max(", "And(", "Or(", "Xor(", "Exchange(", "CompSwap("}) {
    const std::string more = atomic == "CompSwap(" ? "2u, " : "";
    EXPECT_TRUE(updates("atomic" + atomic + "y.data[0], " + more + "x.data[0]);")) << atomic;
  }
  EXPECT_FALSE(updates("y.data[0] = x.data[0];"));
  EXPECT_FALSE(updates("atomicAdd(x.data[0], y.data[0]);"));
}

TEST_F(ShaderInterfaceTest, KnowsWhichImagesAreReadAndWritten) {
  const ShaderInterface found = read(
      "layout(set = 0, binding = 0, rgba8i) uniform iimage3D a;\n"
      "layout(set = 0, binding = 1, rgba8i) uniform iimage3D b;\n"
      "layout(set = 0, binding = 2) uniform usampler2D c;\n"
      "layout(set = 0, binding = 3, r32ui) uniform uimage2D d;\n"
      "layout(set = 0, binding = 4, r32ui) uniform uimage2D e;\n",
      "imageStore(b, imageSize(b), imageLoad(a, ivec3(0)) + ivec4(texelFetch(c, ivec2(0), 0)));\n"
      "imageAtomicAdd(d, ivec2(0), 1u); imageStore(b, ivec3(imageAtomicAdd(e, ivec2(0), 1u)), ivec4(0));");
  ASSERT_EQ(found.bindings.size(), 5U);
  EXPECT_TRUE(found.bindings[0].is_read);
  EXPECT_FALSE(found.bindings[1].is_read);
  EXPECT_TRUE(found.bindings[2].is_read);
  EXPECT_FALSE(found.bindings[3].is_read);
  EXPECT_TRUE(found.bindings[4].is_read);
  std::vector<bool> written;
  for (const ShaderBinding& one : found.bindings) written.push_back(one.is_written);
  EXPECT_THAT(written, ElementsAre(false, true, false, true, true));
}

TEST_F(ShaderInterfaceTest, TellsImagesFromSamplersWithDimensionsAndFormats) {
  const ShaderInterface found = read(
      "layout(set = 0, binding = 0, rgba8i) uniform readonly iimage3D a;\n"
      "layout(set = 0, binding = 1, rgba16f) uniform writeonly image2D b;\n"
      "layout(set = 0, binding = 2) uniform usampler2D c;\n"
      "layout(set = 0, binding = 3, rgba32ui) uniform readonly uimage2DArray d;\n",
      "imageStore(b, ivec2(0), vec4(imageLoad(a, ivec3(0))) + vec4(texelFetch(c, ivec2(0), 0)) + "
      "vec4(imageLoad(d, ivec3(0))));");
  ASSERT_EQ(found.bindings.size(), 4U);
  const ShaderBinding &a = found.bindings[0], &b = found.bindings[1], &c = found.bindings[2],
                      &d = found.bindings[3];
  EXPECT_EQ(a.kind, Kind::StorageImage);
  EXPECT_EQ(a.dimensions, 3U);
  EXPECT_EQ(a.format, "rgba8i");
  EXPECT_EQ(a.texel, 'i');
  EXPECT_TRUE(a.readonly);
  EXPECT_EQ(b.kind, Kind::StorageImage);
  EXPECT_EQ(b.dimensions, 2U);
  EXPECT_EQ(b.format, "rgba16f");
  EXPECT_EQ(b.texel, 'f');
  EXPECT_FALSE(b.readonly);
  EXPECT_EQ(c.kind, Kind::SampledImage);
  EXPECT_EQ(c.dimensions, 2U);
  EXPECT_EQ(c.texel, 'u');
  EXPECT_TRUE(c.readonly);
  EXPECT_EQ(d.dimensions, 0U) << "it has layers";
  EXPECT_EQ(d.format, "");
}

TEST_F(ShaderInterfaceTest, WhatNoDispatchBindsIsOfAnotherKind) {
  const ShaderInterface found = read(
      "layout(set = 0, binding = 0) uniform U { uint u; };\n"
      "layout(set = 0, binding = 1, rgba32f) uniform image2D images[2];\n",
      "imageStore(images[1], ivec2(0), vec4(u));");
  ASSERT_EQ(found.bindings.size(), 2U);
  EXPECT_EQ(found.bindings[0].kind, Kind::UniformBlock);
  EXPECT_EQ(found.bindings[1].kind, Kind::Other);
}

TEST_F(ShaderInterfaceTest, HasThePushConstantsToTheEndOfTheLast) {
  const std::string block =
      "layout(push_constant) uniform P { uint a; float b; layout(offset = 20) int c; };\n";
  const ShaderInterface found = read(buffers({"y"}) + block, "y.data[0] = a;");
  EXPECT_EQ(found.push_bytes, 24U);
  EXPECT_TRUE(found.uses_push);
  EXPECT_FALSE(read(block, "").uses_push);
  EXPECT_EQ(read(buffers({"y"}), "y.data[0] = 1u;").push_bytes, 0U);
}

TEST_F(ShaderInterfaceTest, HasTheSharedMemoryThatItsConstantsDecide) {
  const std::string declarations =
      "layout(constant_id = 16) const uint n = 4u;\n"
      "layout(constant_id = 17) const bool wide = false;\n"
      "const uint rows = wide ? n * 2u + 1u : n >> 1;\n"
      "shared uint a[rows][3];\nshared float b[gl_WorkGroupSize.x * gl_WorkGroupSize.y];\n"
      "shared uint unused[1000];\n";
  const std::string body = "a[0][0] = 1u; b[0] = float(a[0][0]);";
  EXPECT_EQ(read(declarations, body).shared_bytes, 2U * 12 + 4);
  EXPECT_EQ(read(declarations, body, {{16, 10}}).shared_bytes, 5U * 12 + 4);
  EXPECT_EQ(read(declarations, body, {{16, 10}, {17, 1}, {0, 8}, {1, 4}}).shared_bytes, 21U * 12 + 8 * 4 * 4);
  EXPECT_EQ(read(declarations, body, {{16, 1U << 30}}).shared_bytes, (std::uint64_t{1} << 29) * 12 + 4);
}

TEST_F(ShaderInterfaceTest, SharedMemoryIsLaidOutAsVulkanCountsIt) {
  const auto bytes = [&](const std::string& declarations, const std::string& body) {
    return read(declarations, body).shared_bytes;
  };
  EXPECT_EQ(bytes("shared vec3 a[5];", "a[0] = vec3(1);"), 5U * 16);
  EXPECT_EQ(bytes("shared bool a[5];", "a[0] = true;"), 5U * 4);
  EXPECT_EQ(bytes("shared mat3 a;", "a[0] = vec3(1);"), 3U * 16);
  EXPECT_EQ(bytes("struct S { float x; vec4 v; uint y; }; shared S a[2];", "a[0].x = 1.0;"), 2U * 48);
  EXPECT_EQ(bytes("#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
                  "shared float16_t a[3]; shared uvec2 b;",
                  "a[0] = float16_t(1); b.x = 1u;"),
            16U);
}

TEST_F(ShaderInterfaceTest, HasTheWorkgroupSizeWhetherItIsSpecializedOrNot) {
  const std::vector<std::uint32_t> plain =
      compile("#version 450\nlayout(local_size_x = 8, local_size_y = 4) in;\nvoid main() {}\n");
  EXPECT_THAT(interface_of(plain, {{0, 64}}).local_size, ElementsAre(8, 4, 1));
  EXPECT_THAT(read("", "", {{0, 64}, {2, 3}}).local_size, ElementsAre(64, 1, 3));
}

TEST_F(ShaderInterfaceTest, ToleratesCooperativeMatrices) {
  const std::string declarations =
      "#extension GL_NV_cooperative_matrix : require\n"
      "#extension GL_KHR_memory_scope_semantics : require\n"
      "#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
      "layout(constant_id = 16) const uint rows = 16u;\n"
      "layout(set = 0, binding = 0) buffer A { float16_t a[]; };\n"
      "shared float16_t tile[rows * rows];\n";
  const ShaderInterface found =
      read(declarations,
           "fcoopmatNV<16, gl_ScopeSubgroup, rows, 8> m;\n"
           "coopMatLoadNV(m, tile, 0, 16, false); coopMatStoreNV(m, a, 0, 16, false);",
           {{16, 32}});
  EXPECT_EQ(found.shared_bytes, 32U * 32 * 2);
  ASSERT_EQ(found.bindings.size(), 1U);
}

TEST_F(ShaderInterfaceTest, IsNotToldOfWhatIsNoComputeShader) {
  std::vector<std::uint32_t> words = compile(shader_text("", ""));
  EXPECT_THAT([&] { interface_of({}, {}); },
              ::testing::ThrowsMessage<Error>(HasSubstr("reading the interface of a SPIR-V module")));
  words.resize(words.size() / 2);
  EXPECT_THROW(interface_of(words, {}), Error);
}

TEST_F(ShaderInterfaceTest, OfAnyBrokenModuleIsReadOrRefused) {
  const std::vector<std::uint32_t> module =
      compile(shader_text("layout(constant_id = 16) const uint n = 1u;\nshared uint s[n * 2u];\n"
                          "layout(push_constant) uniform P { uint p; vec2 q; };\n"
                          "layout(set = 0, binding = 1, rgba8i) uniform iimage3D image;\n"
                          "layout(set = 0, binding = 2) uniform sampler2D sampled;\n" +
                              buffers({"y"}),
                          "s[0] = p; y.data[0] = s[0]; imageStore(image, ivec3(0), ivec4(texelFetch(sampled, "
                          "ivec2(0), 0)));"));
  std::mt19937 random(3);
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::uint32_t> words = module;
    const std::size_t broken = 5 + random() % (words.size() - 5);
    words[broken] = static_cast<std::uint32_t>(random() % 2 == 0 ? random() : random() % 100);
    try {
      EXPECT_LE(interface_of(words, {}).bindings.size(), 3U);
      ++read;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("reading the interface of a SPIR-V module"));
    }
  }
  EXPECT_GT(read, 100) << "else it is always refused at once";
}

}  // namespace
}  // namespace assay::gpu
