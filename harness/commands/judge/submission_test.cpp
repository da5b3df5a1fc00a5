#include "harness/commands/judge/submission.h"

#include "harness/base/error.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tree_shader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SubmissionTest : public testing::Test {
 protected:
  Submission take() const { return take_submission(folder / "from", folder / "to"); }

  std::string refusal() const try {
    take();
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Usage);
    return folder.without_path(error.what());
  }

  test::TemporaryFolder folder;
};

TEST_F(SubmissionTest, HasCopiesOfWhatDiffers) {
  folder.write("from/q8ta_relu.comp", "mine");
  folder.write("from/common/mine.glslh", "my header");
  folder.write("from/q8ta_add.comp", test::tree_shader("q8ta_add.comp"));
  folder.write("from/notes.txt", "no shader");
  const Submission taken = take();
  EXPECT_THAT(taken.files, ElementsAre("common/mine.glslh", "q8ta_relu.comp"));
  EXPECT_THAT(taken.unchanged, ElementsAre("q8ta_add.comp"));
  EXPECT_THAT(taken.findings, IsEmpty());
  EXPECT_EQ(folder.read("to/q8ta_relu.comp"), "mine");
  EXPECT_FALSE(fs::exists(folder / "to/q8ta_add.comp"));
  EXPECT_FALSE(fs::exists(folder / "to/notes.txt"));
}

TEST_F(SubmissionTest, HasModulesAndIncludesOfKernelsFromOutside) {
  folder.write("from/a/softmax.spv", "a module");
  folder.write("from/common/tree.glsl", "mine");
  EXPECT_THAT(take().files, ElementsAre("a/softmax.spv", "common/tree.glsl"));
  folder.write("from/b/softmax.spv", "another");
  const Submission twice = take();
  ASSERT_EQ(twice.findings.size(), 1U);
  EXPECT_EQ(twice.findings[0].word, "same_name");
}

TEST_F(SubmissionTest, HasKernelsInAnyFolder) {
  folder.write("from/q8ta_relu.comp", "mine");
  folder.write("from/my/affine/quantize_affine.comp", "mine");
  folder.write("from/elementwise/q8ta_add.comp", test::tree_shader("q8ta_add.comp"));
  folder.write("from/copies/copy.comp", test::tree_shader("copy.comp"));
  const Submission taken = take();
  EXPECT_THAT(taken.files, ElementsAre("my/affine/quantize_affine.comp", "q8ta_relu.comp"));
  EXPECT_THAT(taken.unchanged, ElementsAre("copies/copy.comp", "elementwise/q8ta_add.comp"));
  EXPECT_THAT(taken.findings, IsEmpty());
}

TEST_F(SubmissionTest, FollowsNoLink) {
  folder.write("secret.txt", "secret");
  folder.write("from/q8ta_relu.comp", "mine");
  fs::create_symlink(folder / "secret.txt", folder / "from/link.glslh");
  folder.write("elsewhere/other.comp", "someone else's");
  fs::create_directory_symlink(folder / "elsewhere", folder / "from/linked");
  fs::create_symlink("nowhere", folder / "from/dangling.comp");
  const Submission taken = take();
  EXPECT_THAT(taken.files, ElementsAre("q8ta_relu.comp"));
  ASSERT_EQ(taken.findings.size(), 3U);
  for (const Finding& finding : taken.findings) EXPECT_EQ(finding.word, "symbolic_link");
  EXPECT_FALSE(fs::exists(folder / "to/link.glslh"));
  EXPECT_FALSE(fs::exists(folder / "to/linked"));
}

TEST_F(SubmissionTest, ReplacesNoKernelOfTheHarness) {
  folder.write("from/poison.comp", "mine");
  folder.write("from/ceilings/fma.comp", "mine");
  folder.write("from/somewhere/else/difference.comp", "mine");
  const Submission taken = take();
  EXPECT_THAT(taken.files, IsEmpty());
  ASSERT_EQ(taken.findings.size(), 3U);
  for (const Finding& finding : taken.findings) EXPECT_EQ(finding.word, "replaces_harness_shader");
  EXPECT_FALSE(fs::exists(folder / "to/poison.comp"));
}

TEST_F(SubmissionTest, OfNothingIsRefused) {
  EXPECT_THAT(refusal(), HasSubstr("is not a folder"));
  fs::create_directory(folder / "from");
  EXPECT_THAT(refusal(), HasSubstr("holds no shader"));
  folder.write("from/q8ta_add.comp", test::tree_shader("q8ta_add.comp"));
  EXPECT_THAT(refusal(), HasSubstr("equals assay's own"));
}

/// The submission with one problem that has this word, so that nothing of it is judged.
TEST_F(SubmissionTest, OfWhatNobodyCanJudgeIsAFinding) {
  const auto expect_unfit = [&](const std::string& word, const std::string& text) {
    const Submission taken = take();
    EXPECT_THAT(taken.files, IsEmpty()) << word;
    ASSERT_EQ(taken.findings.size(), 1U) << word;
    EXPECT_EQ(taken.findings.front().word, word);
    EXPECT_THAT(taken.findings.front().text, HasSubstr(text));
  };
  folder.write("from/q8ta_relu.comp", "mine");
  folder.write("from/large.glslh", std::string(std::size_t{5} << 20, ' '));
  expect_unfit("too_large", "'large.glslh' has more than 4194304 bytes");
  fs::remove(folder / "from/large.glslh");
  ASSERT_EQ(::mkfifo((folder / "from/pipe.glslh").c_str(), 0600), 0);
  expect_unfit("unreadable_file", "'pipe.glslh' is not a regular file");
  fs::remove(folder / "from/pipe.glslh");
  folder.write("from/a\nverdict\xE2\x80\xAE.glslh", "mine");
  expect_unfit("bad_name", "'a\\x0averdict\\u202e.glslh' has characters in its name");
  fs::remove_all(folder / "from");
  folder.write("from/q8ta_relu.comp", "mine");
  folder.write("from/elementwise/q8ta_relu.comp", test::tree_shader("q8ta_relu.comp"));
  expect_unfit("same_name", "'elementwise/q8ta_relu.comp' and 'q8ta_relu.comp' have the same file name");
  fs::remove_all(folder / "from");
  for (int i = 0; i <= 1000; ++i) folder.write(fmt::format("from/{}.glslh", i), "mine");
  expect_unfit("too_many_files", "more than 1000 shaders");
}

TEST_F(SubmissionTest, UsesNoIntrinsics) {
  folder.write("from/q8ta_relu.comp", "mine");
  folder.write("from/common/mine.glslh", "#extension GL_EXT_spirv_intrinsics : require\n");
  const Submission taken = take();
  EXPECT_THAT(taken.files, ElementsAre("q8ta_relu.comp"));
  ASSERT_EQ(taken.findings.size(), 1U);
  EXPECT_EQ(taken.findings.front().word, "spirv_intrinsics");
  EXPECT_THAT(taken.findings.front().text, HasSubstr("'common/mine.glslh' uses GL_EXT_spirv_intrinsics"));
}

TEST_F(SubmissionTest, HoldsNoOutput) {
  folder.write("from/q8ta_relu.comp", "mine");
  try {
    take_submission(folder / "from", folder / "from/assay-out/judge/1/submission");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("inside the submission"));
    EXPECT_EQ(error.code(), ExitCode::Usage);
  }
  EXPECT_FALSE(fs::exists(folder / "from/assay-out"));
  EXPECT_NO_THROW(take_submission(folder / "from", folder / "from-here")) << "a name that begins alike";
}

TEST_F(SubmissionTest, HasAHashOfItsFiles) {
  folder.write("from/q8ta_relu.comp", "mine");
  const std::string before = take().hash;
  EXPECT_EQ(take().hash, before);
  folder.write("from/q8ta_relu.comp", "mine!");
  EXPECT_NE(take().hash, before);
}

TEST(WithoutComments, IsTheCode) {
  EXPECT_EQ(without_comments("a = b;  // why\n\n/* one\n   two */ c = d; /**/ e();\n"),
            "a = b;\n c = d;   e();\n");
  EXPECT_EQ(without_comments("// all of it"), "");
  EXPECT_EQ(without_comments("a = b;  // why\r\n\r\nc = d;\r\n"), "a = b;\nc = d;\n");
  EXPECT_EQ(without_comments("a / b; a * b; a /b/ c;\n"), "a / b; a * b; a /b/ c;\n");
}

TEST(WithoutComments, KeepsWhatMayDependOnThem) {
  for (const char* source : {"#include \"a//b\"\n", "int n = __LINE__;  // here\n", "// one \\\n still one\n",
                             "// one\rint code;\n", "// one\r\n// two\r\r\n", "// the last\r"})
    EXPECT_EQ(without_comments(source), source);
}

}  // namespace

}  // namespace assay::app
