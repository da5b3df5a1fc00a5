#include "harness/gpu/program/program_hash.h"

#include "harness/gpu/memory/workspace.h"
#include "tests/support/gpu.h"

#include <set>

namespace assay::gpu {
namespace {

using namespace test;

/// A program of which a test may change every part, and its hash.
struct HashedParts {
  Program program{
      .scratch = {{.name = "s", .dtype = DType::F32, .shape = {4, 8}, .form = {}}},
      .dispatches = {{.label = "first",
                      .shader = "first.comp",
                      .defines = {},
                      .constants = {{.name = "tile_m", .value = 5}, {.name = "tile_n", .value = 6}},
                      .push = PushConstants().add(std::int64_t{3}).add(0.5F),
                      .bindings = {Resource::tensor(0), Resource::scratch(0)}},
                     {.label = "second",
                      .shader = "second.comp",
                      .defines = {},
                      .bindings = {Resource::scratch(0), Resource::tensor(1)}}}};
  std::vector<std::string> spirv{"aa", "bb"};
  std::vector<Physical> tensors{Physical({Storage::Buffer, Layout::WP}, DType::F32, {4, 8}),
                                Physical({Storage::Buffer, Layout::WP}, DType::F32, {4, 8})};
  std::uint32_t guard = 0;
  std::uint32_t memory = 1;
  std::uint32_t memory_of_second = 1;

  std::string hash() const {
    return program_hash({.program = program,
                         .spirv = spirv,
                         .tensors = tensors,
                         .guard = guard,
                         .memory = [this](Resource resource) {
                           return resource == Resource::tensor(1) ? memory_of_second : memory;
                         }});
  }
  Dispatch& first() { return program.dispatches.front(); }
};

std::string hash_with(const std::function<void(HashedParts&)>& change) {
  HashedParts parts;
  change(parts);
  return parts.hash();
}

TEST(ProgramHash, OfTwoBuildsOfOneProgramIsEqual) {
  EXPECT_EQ(HashedParts().hash(), HashedParts().hash());
  EXPECT_EQ(HashedParts().hash().size(), 64u);
}

TEST(ProgramHash, DiffersInEachPartThatTheDeviceSees) {
  const std::vector<std::pair<std::string, std::function<void(HashedParts&)>>> changes{
      {"nothing", [](HashedParts&) {}},
      {"SPIR-V of the first", [](HashedParts& p) { p.spirv[0] = "ab"; }},
      {"a uniform",
       [](HashedParts& p) {
         p.first().external.emplace().uniforms = {{"B.n", std::int64_t{1}}};
       }},
      {"a uniform's value",
       [](HashedParts& p) {
         p.first().external.emplace().uniforms = {{"B.n", std::int64_t{2}}};
       }},
      {"range of a binding", [](HashedParts& p) { p.first().bindings[0].range = Binding::Range::Data; }},
      {"SPIR-V of the second", [](HashedParts& p) { p.spirv[1] = "bc"; }},
      {"SPIR-V swapped", [](HashedParts& p) { std::swap(p.spirv[0], p.spirv[1]); }},
      {"constant's value", [](HashedParts& p) { p.first().constants[0].value = 7; }},
      {"constant's name", [](HashedParts& p) { p.first().constants[1].name = "tile_k"; }},
      {"constants' values swapped",
       [](HashedParts& p) { std::swap(p.first().constants[0].value, p.first().constants[1].value); }},
      {"no constant", [](HashedParts& p) { p.first().constants.pop_back(); }},
      {"local size",
       [](HashedParts& p) {
         p.first().local_size = {128, 1, 1};
       }},
      {"local size's shape",
       [](HashedParts& p) {
         p.first().local_size = {32, 2, 1};
       }},
      {"full subgroups", [](HashedParts& p) { p.first().subgroup_size = 32; }},
      {"guard", [](HashedParts& p) { p.guard = guard_bytes; }},
      {"scratch in the memory of another", [](HashedParts& p) { p.program.scratch.back().in_memory_of = 0; }},
      {"workgroups",
       [](HashedParts& p) {
         p.first().workgroups = {2, 1, 1};
       }},
      {"workgroups in another dimension",
       [](HashedParts& p) {
         p.first().workgroups = {1, 2, 1};
       }},
      {"push constant",
       [](HashedParts& p) { p.first().push = PushConstants().add(std::int64_t{4}).add(0.5F); }},
      {"push constant more", [](HashedParts& p) { p.first().push.add(std::int64_t{0}); }},
      {"role", [](HashedParts& p) { p.first().role = DispatchRole::Transition; }},
      {"setup", [](HashedParts& p) { p.first().role = DispatchRole::Setup; }},
      {"bindings swapped", [](HashedParts& p) { std::swap(p.first().bindings[0], p.first().bindings[1]); }},
      {"through a sampler", [](HashedParts& p) { p.first().bindings[0] = sampled(Resource::tensor(0)); }},
      {"other tensor bound", [](HashedParts& p) { p.first().bindings[0] = Resource::tensor(1); }},
      {"tensor for scratch", [](HashedParts& p) { p.first().bindings[1] = Resource::tensor(1); }},
      {"binding less", [](HashedParts& p) { p.first().bindings.pop_back(); }},
      {"tensor's form",
       [](HashedParts& p) {
         p.tensors[0] = Physical({Storage::Buffer, Layout::HP}, DType::F32, {4, 8});
       }},
      {"tensor's storage",
       [](HashedParts& p) {
         p.tensors[0] = Physical({Storage::Texture3D, Layout::WP}, DType::F32, {4, 8});
       }},
      {"tensor's dtype",
       [](HashedParts& p) {
         p.tensors[0] = Physical({Storage::Buffer, Layout::WP}, DType::I32, {4, 8});
       }},
      {"tensor's shape",
       [](HashedParts& p) {
         p.tensors[0] = Physical({Storage::Buffer, Layout::WP}, DType::F32, {8, 4});
       }},
      {"scratch's form", [](HashedParts& p) { p.program.scratch[0].form.layout = Layout::HP; }},
      {"scratch's dtype", [](HashedParts& p) { p.program.scratch[0].dtype = DType::I32; }},
      {"scratch's shape", [](HashedParts& p) { p.program.scratch[0].shape = {32}; }},
      {"memory of all but one", [](HashedParts& p) { p.memory = 7; }},
      {"memory of one", [](HashedParts& p) { p.memory_of_second = 7; }},
      {"dispatch more",
       [](HashedParts& p) {
         p.program.dispatches.push_back(p.program.dispatches[1]);
         p.spirv.push_back(p.spirv[1]);
       }},
      {"order",
       [](HashedParts& p) {
         std::swap(p.program.dispatches[0], p.program.dispatches[1]);
         std::swap(p.spirv[0], p.spirv[1]);
       }},
  };
  std::map<std::string, std::string> seen;
  for (const auto& [what, change] : changes) {
    const auto [before, is_new] = seen.try_emplace(hash_with(change), what);
    EXPECT_TRUE(is_new) << what << " hashes as " << before->second;
  }
}

TEST(ProgramHash, PassesOverWhatOnlyPeopleRead) {
  const std::string plain = HashedParts().hash();
  EXPECT_EQ(plain, hash_with([](HashedParts& p) { p.first().label = "other"; }));
  EXPECT_EQ(plain, hash_with([](HashedParts& p) { p.program.scratch[0].name = "other"; }));
  EXPECT_EQ(plain, hash_with([](HashedParts& p) { p.first().shader = "renamed.comp"; }));
  EXPECT_EQ(plain,
            hash_with([](HashedParts& p) { std::swap(p.first().constants[0], p.first().constants[1]); }));
}

class ExecutableHashTest : public GpuTest {
 protected:
  Program program(const std::string& body = "y.data[0] = x.data[0];") {
    directory.write("one.comp", shader_text(buffers({"x", "y"}), body));
    return {.scratch = {},
            .dispatches = {{.label = "one",
                            .shader = "one.comp",
                            .defines = {},
                            .local_size = {1, 1, 1},
                            .bindings = {Resource::tensor(0), Resource::tensor(1)}}}};
  }
  std::string hash(const Program& program, std::uint32_t guard = 0) {
    const std::vector<Physical> tensors{words(8), words(8)};
    return executable(program, tensors, guard).program_hash(workspace(program, tensors, guard));
  }
};

TEST_F(ExecutableHashTest, OfTwoBuildsIsEqual) {
  EXPECT_EQ(hash(program()), hash(program()));
}

TEST_F(ExecutableHashTest, DiffersWithTheShaderAndTheGuard) {
  const std::string plain = hash(program());
  EXPECT_NE(plain, hash(program("y.data[0] = x.data[0] + 1u;")));
  EXPECT_NE(plain, hash(program(), guard_bytes));
}

TEST_F(ExecutableHashTest, RefusesAWorkspaceOfAnotherGuard) {
  const Program one = program();
  const std::vector<Physical> tensors{words(8), words(8)};
  EXPECT_THROW(executable(one, tensors, 0).program_hash(workspace(one, tensors, guard_bytes)),
               std::logic_error);
}

TEST_F(ExecutableHashTest, KnowsTheMemoryOfBuffersAndTextures) {
  const std::vector<Physical> tensors{words(8),
                                      Physical({Storage::Texture3D, Layout::WP}, DType::F32, {4, 4})};
  if (device().info().texture(Storage::Texture3D, DType::F32) == nullptr) {
    GTEST_SKIP() << "the device has no such textures";
  }
  const Workspace memory = workspace({}, tensors, 0);
  const VkPhysicalDeviceMemoryProperties& types = device().state().physical.memory;
  for (const std::uint32_t tensor : {0U, 1U}) {
    const VkMemoryPropertyFlags flags = memory.state().memory_of(Resource::tensor(tensor));
    EXPECT_TRUE(std::any_of(types.memoryTypes, types.memoryTypes + types.memoryTypeCount,
                            [&](const VkMemoryType& type) { return type.propertyFlags == flags; }))
        << flags;
    EXPECT_NE(flags, 0u);
  }
}

}  // namespace
}  // namespace assay::gpu
