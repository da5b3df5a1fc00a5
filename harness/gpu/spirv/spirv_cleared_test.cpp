#include "harness/gpu/spirv/spirv_cleared.h"

#include "harness/gpu/spirv/shader_interface.h"
#include "harness/gpu/spirv/spirv_rules.h"
#include "tests/support/gpu.h"

namespace assay::gpu {
namespace {

using namespace test;
using ::testing::Each;

class ClearedTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { static const GlslangProcess shared; }

  std::vector<std::uint32_t> compile(const std::string& text) {
    sources.write("s.comp", text);
    return ShaderLibrary({.directories = {sources.path()}, .cache_directory = {}})
        .compile("s.comp", {})
        .words;
  }

  TemporaryFolder sources;
};

/// Each workgroup leaves a mark for later ones, and tells what it found.
constexpr const char* marking = R"(#version 450
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) buffer Y { uint y[]; };
layout(constant_id = 20) const uint size = 1000u;
shared uint marks[size];
shared struct { uint a; vec4 b[3]; } more;
void main() {
  uint found = more.a;
  for (uint i = 0u; i < size; ++i) found |= marks[i];
  barrier();
  for (uint i = 0u; i < size; ++i) marks[i] = 0xabcdu;
  more.a = 0x12340000u;
  barrier();
  y[gl_GlobalInvocationID.x] = found;
}
)";

TEST_F(ClearedTest, AModuleIsValidAndElseTheSame) {
  const std::vector<std::uint32_t> words = compile(marking);
  const std::vector<std::uint32_t> cleared = with_cleared_workgroup_memory(words);
  EXPECT_EQ(validate_spirv(cleared), std::nullopt);
  EXPECT_EQ(cleared.size(), words.size() + 2 * 4) << "a constant and an operand for each of two variables";
  EXPECT_EQ(interface_of(cleared, {}).shared_bytes, interface_of(words, {}).shared_bytes);
  EXPECT_EQ(with_cleared_workgroup_memory(cleared), cleared) << "what has a value keeps it";
}

TEST_F(ClearedTest, AModuleWithoutWorkgroupMemoryIsTheSame) {
  const std::vector<std::uint32_t> words = compile(shader_text(buffers({"y"}), "y.data[0] = 1u;"));
  EXPECT_EQ(with_cleared_workgroup_memory(words), words);
}

TEST_F(ClearedTest, NoWordsAreNoModule) {
  EXPECT_TRUE(with_cleared_workgroup_memory({}).empty());
}

}  // namespace
}  // namespace assay::gpu
