#include "harness/gpu/spirv/declared_constants.h"

#include "tests/support/gpu.h"

#include <random>

namespace assay::gpu {
namespace {

using namespace test;

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DeclaredConstantsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { static const GlslangProcess shared; }  // saves time: see GpuTest

  std::vector<std::uint32_t> compile(const std::string& declarations, const std::string& body = "",
                                     const std::vector<Define>& defines = {}) {
    sources.write("s.comp", shader_text(declarations, body));
    return ShaderLibrary({.directories = {sources.path()}, .cache_directory = {}})
        .compile("s.comp", defines)
        .words;
  }

  TemporaryFolder sources;
};

const DeclaredConstant x{0, ""}, y{1, ""}, z{2, ""};  // dimensions of the workgroup

std::string complaint(std::span<const std::uint32_t> words) {
  try {
    declared_constants(words);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(DeclaredConstantsTest, HaveTheirNamesWhetherUsedOrNot) {
  EXPECT_THAT(declared_constants(compile("layout(constant_id = 21) const float b = 1.0;\n"
                                         "layout(constant_id = 16) const int a_name_of_20_letters = 1;\n"
                                         "layout(constant_id = 17) const bool c = false;\n"
                                         "layout(constant_id = 3) const uint four = 0u;\n" +
                                             buffers({"y"}),
                                         "y.data[0] = four;")),
              ElementsAre(x, y, z, DeclaredConstant{3, "four"}, DeclaredConstant{16, "a_name_of_20_letters"},
                          DeclaredConstant{17, "c"}, DeclaredConstant{21, "b"}));
}

TEST_F(DeclaredConstantsTest, HaveTheirNamesAsSizesOfArraysAndInsideOfOtherConstants) {
  EXPECT_THAT(declared_constants(compile("layout(constant_id = 16) const uint size = 4u;\n"
                                         "layout(constant_id = 17) const uint factor = 4u;\n"
                                         "const uint product = factor * 2u + 1u;\n"
                                         "shared uint a[size];\nshared uint b[product];\n",
                                         "a[0] = 1u; b[0] = a[0];")),
              ElementsAre(x, y, z, DeclaredConstant{16, "size"}, DeclaredConstant{17, "factor"}));
}

TEST_F(DeclaredConstantsTest, AreThoseOfTheVariantAlone) {
  const std::string declarations =
      "#if DEEP\nlayout(constant_id = 16) const uint depth = 4u;\n#else\n"
      "layout(constant_id = 16) const uint breadth = 4u;\n#endif\n";
  EXPECT_THAT(declared_constants(compile(declarations, "", {{"DEEP", "1"}})),
              ElementsAre(x, y, z, DeclaredConstant{16, "depth"}));
  EXPECT_THAT(declared_constants(compile(declarations, "", {{"DEEP", "0"}})),
              ElementsAre(x, y, z, DeclaredConstant{16, "breadth"}));
}

TEST_F(DeclaredConstantsTest, MustHave32Bits) {
  EXPECT_THAT(complaint(compile("layout(constant_id = 16) const double wide = 1.0lf;\n")),
              HasSubstr("constant 'wide' (constant_id 16) is not 32 bits wide"));
}

TEST_F(DeclaredConstantsTest, AreRefusedInWhatIsNoModule) {
  EXPECT_THAT(complaint({}), HasSubstr("reading the specialization constants of a SPIR-V module"));
  std::vector<std::uint32_t> words = compile("");
  words[0] ^= 1U;
  EXPECT_THAT(complaint(words), HasSubstr("Invalid SPIR-V magic number"));
}

TEST_F(DeclaredConstantsTest, AreRefusedWhereAnInstructionIsCutOrHasNoLength) {
  const std::vector<std::uint32_t> header{0x07230203, 0x00010300, 0, 10, 0};
  const auto with = [&](std::vector<std::uint32_t> instruction) {
    std::vector<std::uint32_t> words = header;
    words.insert(words.end(), instruction.begin(), instruction.end());
    return complaint(words);
  };
  const auto is_refused = HasSubstr("reading the specialization constants of a SPIR-V module: ");
  EXPECT_THAT(with({0x00000005}), is_refused) << "no length";
  EXPECT_THAT(with({0x00040005, 1, 0}), is_refused) << "shorter than it says";
  EXPECT_THAT(with({0x00030047, 1, 1}), is_refused) << "an operand too few";
  EXPECT_THAT(with({0x00030005, 1, 0x61616161}), is_refused) << "a name without an end";
}

TEST_F(DeclaredConstantsTest, OfAnyBrokenModuleAreReadOrRefused) {
  const std::vector<std::uint32_t> module =
      compile("layout(constant_id = 16) const uint a = 1u;\n" + buffers({"y"}), "y.data[0] = a;");
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint32_t> words = module;
    words.resize(1 + random() % words.size());
    const std::size_t broken = random() % words.size();
    words[broken] = static_cast<std::uint32_t>(random() % 2 == 0 ? random() : random() % 100);
    try {
      EXPECT_LE(declared_constants(words).size(), module.size());
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("specialization constants of a SPIR-V module"));
    }
  }
}

}  // namespace
}  // namespace assay::gpu
