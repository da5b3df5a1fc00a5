// Tensors in texture storage: in memory, in kernels, and on devices that do not support them.

#include "harness/gpu/device/limits.h"
#include "harness/gpu/memory/memory.h"
#include "harness/gpu/memory/workspace.h"
#include "tests/support/gpu.h"

namespace assay::gpu {
namespace {

using namespace test;

using ::testing::HasSubstr;

constexpr std::array dtypes{DType::F32, DType::F16, DType::I32, DType::I16, DType::I8, DType::U8};
constexpr Form texture3d{Storage::Texture3D, Layout::WP};
constexpr Form texture2d{Storage::Texture2D, Layout::WP};

/// Small whole numbers, so that every bit pattern is a plain value of any dtype: a device may change the
/// bits of a NaN on their way through a float texture.
std::vector<std::byte> texels(const Physical& physical, unsigned seed) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(physical.bytes()));
  const std::size_t size = size_of(physical.dtype());
  for (std::size_t i = 0; i * size < bytes.size(); ++i) {
    const auto value = static_cast<int>((i * 37 + i / 101 + seed) % 127);
    const auto put = [&](auto lane) { std::memcpy(&bytes[i * size], &lane, size); };
    if (physical.dtype() == DType::F32) {
      put(static_cast<float>(value));
    } else if (physical.dtype() == DType::F16) {
      put(to_half(static_cast<float>(value)));
    } else {
      put(value);  // the lowest bytes of a little-endian int
    }
  }
  return bytes;
}

/// Textures of awkward extents: one texel, odd numbers, one long row, many slices.
std::vector<Physical> awkward_textures(DType dtype) {
  return {{texture3d, dtype, {1, 1, 1, 1}},
          {texture3d, dtype, {2, 3, 5, 7}},
          {{Storage::Texture3D, Layout::CP}, dtype, {3, 9, 7, 33}},
          {{Storage::Texture3D, Layout::HP}, dtype, {1, 255, 1, 3}},
          {texture2d, dtype, {1, 1}},
          {texture2d, dtype, {13, 37}},
          {texture2d, dtype, {1, 4099}},
          {{Storage::Texture2D, Layout::CP}, dtype, {1, 3, 65, 17}}};
}

class TextureTest : public GpuTest {
 protected:
  /// The output of mirror_texture.comp for `x`.
  static std::vector<std::byte> mirrored(const Physical& physical, const std::vector<std::byte>& x) {
    const std::size_t lane = size_of(physical.dtype());
    const std::size_t count = x.size() / (4 * lane);
    std::vector<std::byte> y(x.size());
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        std::memcpy(&y[((count - 1 - i) * 4 + j) * lane], &x[(i * 4 + (j + 1) % 4) * lane], lane);
      }
    }
    return y;
  }

  static Dispatch mirror(const Physical& physical, Binding x, Binding y) {
    const bool is_3d = physical.form().storage == Storage::Texture3D;
    const std::string kind = is_float(physical.dtype()) ? "" : physical.dtype() == DType::U8 ? "u" : "i";
    Dispatch dispatch{.label = "mirror",
                      .shader = "mirror_texture.comp",
                      .defines = {{"FORMAT", std::string(texel_name(physical.dtype()))},
                                  {"IMAGE", kind + (is_3d ? "image3D" : "image2D")},
                                  {"DIMS", is_3d ? "3" : "2"}},
                      .bindings = {x, y}};
    dispatch.local_size = is_3d ? std::array{4U, 2U, 4U} : std::array{8U, 8U, 1U};
    for (std::size_t i = 0; i < 3; ++i) {
      dispatch.workgroups[i] = (physical.extent()[i] + dispatch.local_size[i] - 1) / dispatch.local_size[i];
    }
    return dispatch;
  }

  static Executable prepare(const Program& program, const std::vector<Physical>& tensors,
                            std::uint32_t guard = guard_bytes) {
    ShaderLibrary library({.directories = {std::filesystem::path(ASSAY_SOURCE_DIR) / "harness/gpu/testdata"},
                           .cache_directory = {}});
    return {device(), library, program, tensors, guard};
  }
};

TEST_F(TextureTest, GivesBackWhatWasWrittenWhateverTheDtypeAndTheExtent) {
  for (const DType dtype : dtypes) {
    const std::vector<Physical> tensors = awkward_textures(dtype);
    Workspace memory = workspace({}, tensors);
    for (std::uint32_t i = 0; i < tensors.size(); ++i) {
      memory.write(Resource::tensor(i), texels(tensors[i], i));
    }
    for (std::uint32_t i = 0; i < tensors.size(); ++i) {
      EXPECT_EQ(memory.size(Resource::tensor(i)), static_cast<std::uint64_t>(tensors[i].bytes()));
      EXPECT_TRUE(memory.read(Resource::tensor(i)) == texels(tensors[i], i))
          << name_of(dtype) << " " << assay::to_string(tensors[i].shape()) << " "
          << to_string(tensors[i].form());
    }
  }
}

TEST_F(TextureTest, AKernelReadsOneTextureAndWritesAnother) {
  for (const DType dtype : dtypes) {
    for (const Physical& physical : awkward_textures(dtype)) {
      const std::vector<Physical> tensors{physical, physical};
      Program program;
      program.dispatches = {mirror(physical, Resource::tensor(0), Resource::tensor(1))};
      Workspace memory = workspace(program, tensors);
      memory.write(Resource::tensor(0), texels(physical, 1));
      prepare(program, tensors).run(memory, "mirror", timeout_s);
      EXPECT_TRUE(memory.read(Resource::tensor(1)) == mirrored(physical, texels(physical, 1)))
          << name_of(dtype) << " " << assay::to_string(physical.shape()) << " " << to_string(physical.form());
      EXPECT_TRUE(memory.read(Resource::tensor(0)) == texels(physical, 1));
    }
  }
}

TEST_F(TextureTest, AKernelReadsTheSameThroughASamplerAsThroughAnImage) {
  for (const DType dtype : dtypes) {
    for (const Physical& physical : awkward_textures(dtype)) {
      ASSERT_TRUE(device().info().texture(physical.form().storage, dtype)->sampled) << name_of(dtype);
      Dispatch dispatch = mirror(physical, Resource::tensor(0), sampled(Resource::tensor(0)));
      dispatch.shader = "sample_texture.comp";
      const std::string image = dispatch.defines[1].value;  // "iimage3D"
      dispatch.defines.push_back({"SAMPLER", std::string(image).replace(image.find("image"), 5, "sampler")});
      dispatch.bindings.emplace_back(Resource::tensor(1));
      Program program;
      program.dispatches = {dispatch};
      const std::vector<Physical> tensors{physical, words(2)};
      Workspace memory = workspace(program, tensors, 0);
      memory.write(Resource::tensor(0), texels(physical, 1));
      memory.write(Resource::tensor(1), bytes_of({0, 0}));
      prepare(program, tensors, 0).run(memory, "sample", timeout_s);
      const auto lanes = static_cast<std::uint32_t>(texels(physical, 1).size() / size_of(dtype));
      EXPECT_EQ(words_of(memory.read(Resource::tensor(1))), (std::vector<std::uint32_t>{lanes, 0}))
          << name_of(dtype) << " " << assay::to_string(physical.shape()) << " " << to_string(physical.form());
    }
  }
}

TEST_F(TextureTest, AScratchTextureIsWrittenAsAnImageAndThenSampled) {
  const Physical physical(texture2d, DType::F32, {9, 40});
  Program program;
  program.scratch.push_back(
      {.name = "s", .dtype = physical.dtype(), .shape = physical.shape(), .form = texture2d});
  directory.write("copy.comp",
                  shader_text("layout(set = 0, binding = 0) uniform sampler2D x;\n"
                              "layout(set = 0, binding = 1, rgba32f) uniform writeonly image2D y;\n",
                              "const ivec2 at = ivec2(gl_GlobalInvocationID.xy);"
                              "imageStore(y, at, texelFetch(x, at, 0));"));
  Dispatch copy{.label = "copy", .shader = "copy.comp", .local_size = {10, 9, 1}};
  copy.bindings = {sampled(Resource::tensor(0)), Resource::scratch(0)};
  program.dispatches = {copy, copy};
  program.dispatches[1].bindings = {sampled(Resource::scratch(0)), Resource::tensor(1)};
  const std::vector<Physical> tensors{physical, physical};
  Workspace memory = workspace(program, tensors);
  memory.write(Resource::tensor(0), texels(physical, 1));
  executable(program, tensors).run(memory, "copy twice", timeout_s);
  EXPECT_TRUE(memory.read(Resource::tensor(1)) == texels(physical, 1));
}

TEST_F(TextureTest, AScratchTextureCarriesFromOneDispatchToTheNext) {
  const Physical physical(texture3d, DType::I8, {2, 3, 16, 20});
  Program program;
  program.scratch.push_back(
      {.name = "s", .dtype = physical.dtype(), .shape = physical.shape(), .form = texture3d});
  program.dispatches = {mirror(physical, Resource::tensor(0), Resource::scratch(0)),
                        mirror(physical, Resource::scratch(0), Resource::tensor(1))};
  const std::vector<Physical> tensors{physical, physical};
  Workspace memory = workspace(program, tensors, 0);
  memory.write(Resource::tensor(0), texels(physical, 1));
  Executable runnable = prepare(program, tensors, 0);
  const auto twice = mirrored(physical, mirrored(physical, texels(physical, 1)));

  runnable.run(memory, "mirror twice", timeout_s);
  EXPECT_TRUE(memory.read(Resource::tensor(1)) == twice);
  runnable.time(memory, {.warm = 1, .batch = 3, .spacing = Spacing::Barrier}, timeout_s);
  EXPECT_TRUE(memory.read(Resource::tensor(1)) == twice);
  runnable.dispatch_ns(memory, timeout_s);
  EXPECT_TRUE(memory.read(Resource::tensor(1)) == twice);

  const Executable::Overwrite fives{.before = 1, .resource = Resource::scratch(0), .word = 5};
  runnable.run(memory, "mirror fives", timeout_s, {&fives, 1});
  EXPECT_THAT(memory.read(Resource::tensor(1)), ::testing::Each(std::byte{5}));
}

TEST_F(TextureTest, ADispatchBindsBuffersAndTexturesTogether) {
  directory.write("mixed.comp", shader_text("layout(constant_id = 3) const uint guard_words = 0;\n"
                                            "layout(set = 0, binding = 0) buffer X { int x[]; };\n"
                                            "layout(set = 0, binding = 1, rgba32i) uniform iimage2D y;\n"
                                            "layout(set = 0, binding = 2) buffer Z { int z[]; };\n",
                                            "const int i = int(gl_GlobalInvocationID.x);"
                                            "const int a = x[guard_words + i];"
                                            "imageStore(y, ivec2(i, 0), ivec4(a, a + 1, a + 2, a + 3));"
                                            "z[guard_words + i] = -a;"));
  Program program;
  program.dispatches.push_back({.label = "mixed",
                                .shader = "mixed.comp",
                                .local_size = {2, 1, 1},
                                .bindings = {Resource::tensor(2), Resource::tensor(0), Resource::tensor(1)}});
  const std::vector<Physical> tensors{{texture2d, DType::I32, {1, 8}}, words(2), words(2)};
  Workspace memory = workspace(program, tensors);
  std::vector<std::uint32_t> x(2 + 2 * guard_bytes / 4, 0);
  x[guard_bytes / 4] = 10;
  x[guard_bytes / 4 + 1] = 20;
  memory.write(Resource::tensor(2), bytes_of(x));
  executable(program, tensors).run(memory, "mixed", timeout_s);
  EXPECT_EQ(words_of(memory.read(Resource::tensor(0))),
            (std::vector<std::uint32_t>{10, 11, 12, 13, 20, 21, 22, 23}));
  EXPECT_EQ(words_of(memory.read(Resource::tensor(1)))[guard_bytes / 4 + 1], static_cast<std::uint32_t>(-20));
}

TEST_F(TextureTest, TwoWorkspacesOfOneProgramDoNotMix) {
  const Physical physical(texture3d, DType::F16, {1, 5, 6, 7});
  const std::vector<Physical> tensors{physical, physical};
  Program program;
  program.dispatches = {mirror(physical, Resource::tensor(0), Resource::tensor(1))};
  Executable runnable = prepare(program, tensors);
  std::vector<Workspace> memories;
  for (unsigned seed = 0; seed < 2; ++seed) {
    memories.push_back(workspace(program, tensors));
    memories.back().write(Resource::tensor(0), texels(physical, seed));
    memories.back().write(Resource::tensor(1), texels(physical, 50));
  }
  runnable.run(memories[1], "second", timeout_s);
  EXPECT_TRUE(memories[0].read(Resource::tensor(1)) == texels(physical, 50));
  EXPECT_TRUE(memories[1].read(Resource::tensor(1)) == mirrored(physical, texels(physical, 1)));
  runnable.run(memories[0], "first", timeout_s);
  EXPECT_TRUE(memories[0].read(Resource::tensor(1)) == mirrored(physical, texels(physical, 0)));
  EXPECT_TRUE(memories[1].read(Resource::tensor(1)) == mirrored(physical, texels(physical, 1)));
}

TEST_F(TextureTest, AWorkspaceOfOtherFormsThanTheProgramsIsRefused) {
  const Physical physical(texture2d, DType::F32, {4, 4});
  const Physical buffer({Storage::Buffer, Layout::WP}, DType::F32, {4, 4});
  Program program;
  program.dispatches = {mirror(physical, Resource::tensor(0), Resource::tensor(1))};
  Executable runnable = prepare(program, {physical, physical});
  Workspace memory = workspace(program, {physical, buffer});
  try {
    runnable.run(memory, "mirror", timeout_s);
    FAIL() << "nothing was thrown";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("binding 1 of dispatch 'mirror'"));
  }
}

TEST_F(TextureTest, AResourceThatTheProgramDoesNotHaveIsRefusedByItsNumber) {
  const Physical physical(texture2d, DType::F32, {4, 4});
  Program program;
  program.dispatches = {mirror(physical, Resource::tensor(0), Resource::scratch(3))};
  EXPECT_THAT([&] { prepare(program, {physical}); },
              ::testing::ThrowsMessage<std::logic_error>(HasSubstr("binds scratch 3, the program has 0")));
}

TEST_F(TextureTest, WhatIsBeyondTheDeviceIsRefusedBeforeItIsCreated) {
  const std::int64_t limit = device().info().max_image_2d;
  const Physical large(texture2d, DType::I8, {1, 4 * limit + 1});
  const std::string reason =
      "needs " + std::to_string(limit + 1) + " texels in x; maxImageDimension2D is " + std::to_string(limit);
  EXPECT_THAT(unsupported({}, std::vector{large}, {}, device().info(), 0).value_or(""), HasSubstr(reason));
  EXPECT_THAT([&] { workspace({}, {large}); }, ::testing::ThrowsMessage<Error>(HasSubstr(reason)));
}

TEST_F(TextureTest, TheLargestRowsAndSlicesWork) {
  const DeviceInfo& info = device().info();
  const std::vector<Physical> tensors{{texture2d, DType::U8, {1, 4 * std::int64_t{info.max_image_2d}}},
                                      {texture3d, DType::U8, {1, info.max_image_3d, 1, 1}},
                                      {texture3d, DType::U8, {1, 1, info.max_image_3d, 1}}};
  ASSERT_EQ(unsupported({}, tensors, {}, info, 0), std::nullopt);
  Workspace memory = workspace({}, tensors);
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    memory.write(Resource::tensor(i), texels(tensors[i], i));
    EXPECT_TRUE(memory.read(Resource::tensor(i)) == texels(tensors[i], i)) << i;
  }
}

TEST_F(TextureTest, EveryDeviceHasTheTexturesThatVulkanDemands) {
  for (const DType dtype : dtypes) {
    for (const Storage storage : {Storage::Texture3D, Storage::Texture2D}) {
      const TextureSupport* support = device().info().texture(storage, dtype);
      ASSERT_NE(support, nullptr) << name_of(storage) << " " << name_of(dtype);
      EXPECT_GE(support->max_extent[1], 256u);
      EXPECT_EQ(support->max_extent[2] > 1, storage == Storage::Texture3D);
      EXPECT_GE(support->max_bytes, std::uint64_t{1} << 28);
    }
  }
  EXPECT_GE(device().info().max_storage_images_per_stage, 4u);
  EXPECT_EQ(device().info().texture(Storage::Buffer, DType::F32), nullptr);
}

TEST_F(TextureTest, StagingMovesAnImageInPieces) {
  const Physical physical(texture3d, DType::F16,
                          {2, 3, 5, 27});  // rows of 7 texels, slices of 35, 8 bytes each
  Workspace memory = workspace({}, {physical});
  const auto& image = std::get<Image>(memory.state().at(Resource::tensor(0)));
  const auto sent = texels(physical, 9);
  for (const std::uint64_t chunk : {16U, 40U, 56U, 100U, 280U, 600U, 1672U, 1680U, 4000U}) {
    Staging staging(device().state(), chunk);
    memory.write(Resource::tensor(0), texels(physical, 1));
    staging.upload(image, sent);
    EXPECT_TRUE(memory.read(Resource::tensor(0)) == sent) << chunk;
    std::vector<std::byte> received(sent.size());
    staging.download(image, received);
    EXPECT_TRUE(received == sent) << chunk;
  }
}

TEST_F(TextureTest, StagingCopiesAnImageInPieces) {
  const Physical physical(texture3d, DType::F16, {2, 3, 5, 27});  // as above
  Workspace from = workspace({}, {physical});
  Workspace to = workspace({}, {physical});
  from.write(Resource::tensor(0), texels(physical, 9));
  for (const std::uint64_t chunk : {40U, 600U, 4000U}) {
    Staging staging(device().state(), chunk);
    to.write(Resource::tensor(0), texels(physical, 1));
    staging.copy(std::get<Image>(from.state().at(Resource::tensor(0))),
                 std::get<Image>(to.state().at(Resource::tensor(0))));
    EXPECT_TRUE(to.read(Resource::tensor(0)) == texels(physical, 9)) << chunk;
  }
}

TEST_F(TextureTest, DeepImagesAreCopiedThroughABuffer) {
  constexpr std::int64_t most = 2048;
  if (device().info().max_image_3d <= most) GTEST_SKIP() << "the device has no deeper textures";
  for (const std::int64_t slices : {most, most + 1}) {
    const Physical physical(texture3d, DType::F16, {1, slices, 1, 8});
    const std::vector<std::byte> sent = texels(physical, 9);
    Workspace from = workspace({}, {physical});
    EXPECT_EQ(copies_through_buffer(std::get<Image>(from.state().at(Resource::tensor(0)))), slices > most);
    from.write(Resource::tensor(0), sent);
    Workspace one = workspace({}, {physical}), other = workspace({}, {physical});
    from.copy_to({{&one, &other}});
    EXPECT_TRUE(one.read(Resource::tensor(0)) == sent) << slices;
    EXPECT_TRUE(other.read(Resource::tensor(0)) == sent) << slices;
  }
}

TEST(Box, IsWholeSlicesElseWholeRowsElseAPartOfARow) {
  const VkExtent3D image{5, 4, 3};
  const auto box = [&](std::uint64_t first, std::uint64_t most) {
    const Box found = box_at(image, first, most);
    return std::array<std::uint32_t, 6>{static_cast<std::uint32_t>(found.offset.x),
                                        static_cast<std::uint32_t>(found.offset.y),
                                        static_cast<std::uint32_t>(found.offset.z),
                                        found.extent.width,
                                        found.extent.height,
                                        found.extent.depth};
  };
  using Expected = std::array<std::uint32_t, 6>;
  EXPECT_EQ(box(0, 60), (Expected{0, 0, 0, 5, 4, 3}));
  EXPECT_EQ(box(0, 59), (Expected{0, 0, 0, 5, 4, 2}));
  EXPECT_EQ(box(20, 1000), (Expected{0, 0, 1, 5, 4, 2}));
  EXPECT_EQ(box(0, 19), (Expected{0, 0, 0, 5, 3, 1}));
  EXPECT_EQ(box(15, 60), (Expected{0, 3, 0, 5, 1, 1}));
  EXPECT_EQ(box(45, 14), (Expected{0, 1, 2, 5, 2, 1}));
  EXPECT_EQ(box(0, 4), (Expected{0, 0, 0, 4, 1, 1}));
  EXPECT_EQ(box(4, 60), (Expected{4, 0, 0, 1, 1, 1}));
}

/// A device that supports textures with 8-bit and f32 texels.
DeviceInfo texture_device() {
  DeviceInfo device;
  device.max_image_3d = 2048;
  device.max_image_2d = 16384;
  device.textures = {{Storage::Texture3D, DType::F32, {2048, 2048, 1024}, std::uint64_t{1} << 31},
                     {Storage::Texture3D, DType::I8, {2048, 2048, 2048}, std::uint64_t{1} << 31},
                     {Storage::Texture2D, DType::I8, {16384, 16384, 1}, std::uint64_t{1} << 31}};
  return device;
}

std::string reason_for(const Physical& physical) {
  const std::vector<std::string> names{"x"};
  return unsupported({}, std::vector{physical}, {}, texture_device(), guard_bytes, names).value_or("");
}

TEST(UnsupportedTexture, NamesTensorFormNumberAndLimit) {
  EXPECT_EQ(reason_for({texture3d, DType::I8, {1, 2048, 1, 4 * 2048}}), "");
  EXPECT_EQ(reason_for({texture3d, DType::I8, {1, 1, 20000, 4}}),
            "x as texture3d/WP needs 20000 texels in y; maxImageDimension3D is 2048");
  EXPECT_EQ(reason_for({texture3d, DType::I8, {3, 700, 1, 4}}),
            "x as texture3d/WP needs 2100 texels in z; maxImageDimension3D is 2048");
  EXPECT_EQ(reason_for({texture2d, DType::I8, {1, 4 * 16384 + 1}}),
            "x as texture2d/WP needs 16385 texels in x; maxImageDimension2D is 16384");
  EXPECT_EQ(reason_for({texture3d, DType::F32, {1, 1025, 1, 4}}),
            "x as texture3d/WP needs 1025 texels in z; the device has at most 1024 of rgba32f there");
  EXPECT_EQ(reason_for({texture3d, DType::F32, {1, 1024, 1024, 1024}}),
            "x as texture3d/WP needs 4.3 GB; maxResourceSize is 2.1 GB");
  EXPECT_EQ(reason_for({texture2d, DType::F16, {4, 4}}),
            "x as texture2d/WP needs storage images of rgba16f that can be copied, which the device does not "
            "have in 2D");
}

TEST(UnsupportedTexture, ChecksScratchToo) {
  Program program;
  program.scratch.push_back({.name = "t", .dtype = DType::I8, .shape = {1, 1, 3000, 4}, .form = texture3d});
  EXPECT_EQ(unsupported(program, {}, {}, texture_device(), 0),
            "t as texture3d/WP needs 3000 texels in y; maxImageDimension3D is 2048");
}

TEST(UnsupportedTexture, WhatTheDeviceDoesNotSampleIsNotBoundToSamplers) {
  DeviceInfo device = texture_device();
  const std::vector<Physical> tensors{{texture3d, DType::I8, {4}}, words(1)};
  Program program;
  Dispatch& dispatch = program.dispatches.emplace_back();
  dispatch.label = "d";
  dispatch.bindings = {sampled(Resource::tensor(0))};
  EXPECT_EQ(unsupported(program, tensors, {}, device, 0),
            "dispatch 'd' reads a texture of rgba8i through a sampler, which the device cannot in 3D");
  for (TextureSupport& one : device.textures) one.sampled = true;
  EXPECT_EQ(unsupported(program, tensors, {}, device, 0), std::nullopt);
  dispatch.bindings.assign(17, sampled(Resource::tensor(0)));
  EXPECT_EQ(unsupported(program, tensors, {}, device, 0),
            "dispatch 'd' needs 17 textures read through samplers, the least of "
            "maxPerStageDescriptorSampledImages and ...Samplers is 16");
  dispatch.bindings = {sampled(Resource::tensor(1))};
  EXPECT_THROW(unsupported(program, tensors, {}, device, 0), std::logic_error) << "it is a buffer";
}

TEST(UnsupportedTexture, ImagesAndBuffersOfADispatchAreCountedApart) {
  DeviceInfo device = texture_device();
  const std::vector<Physical> tensors{{texture3d, DType::I8, {4}}, words(1)};
  Program program;
  Dispatch& dispatch = program.dispatches.emplace_back();
  dispatch.label = "d";
  dispatch.bindings.assign(4, Resource::tensor(0));
  dispatch.bindings.insert(dispatch.bindings.end(), 4, Resource::tensor(1));
  EXPECT_EQ(unsupported(program, tensors, {}, device, 0), std::nullopt);
  device.max_storage_images_per_stage = 3;
  EXPECT_EQ(unsupported(program, tensors, {}, device, 0),
            "dispatch 'd' needs 4 storage images, maxPerStageDescriptorStorageImages is 3");
}

}  // namespace
}  // namespace assay::gpu
