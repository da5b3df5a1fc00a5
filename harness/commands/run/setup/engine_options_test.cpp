#include "harness/commands/run/setup/engine_options.h"

#include <gtest/gtest.h>

namespace assay::app {
namespace {

const BuildInfo clean{
    .version = "0.1.0+b1a8850ccc06", .compiler = "GNU", .build_type = "Release", .reference_code = "code"};

std::string folder_of(const std::string& option, const BuildInfo& build) {
  RunOptions options;
  options.answer_cache = option;
  return answer_cache_options(options, build).directory.string();
}

TEST(AnswerCacheOption, NamesTheFolder) {
  EXPECT_EQ(folder_of("kept/here", clean), "kept/here");
  EXPECT_EQ(folder_of("", clean), default_answer_directory().string());
  EXPECT_EQ(folder_of("none", clean), "");
}

TEST(AnswerCacheOption, ABuildOfChangedFilesKeepsNothing) {
  BuildInfo dirty = clean;
  dirty.version += "-dirty";
  EXPECT_EQ(folder_of("", dirty), "");
  EXPECT_EQ(folder_of("kept/here", dirty), "");
}

TEST(AnswerCacheOption, ABuildThatDoesNotKnowItsReferencesKeepsNothing) {
  BuildInfo unknown = clean;
  unknown.reference_code.clear();
  EXPECT_EQ(folder_of("kept/here", unknown), "");
}

TEST(AnswerCacheOption, TheCodeOfReferencesIsPartOfTheKey) {
  EXPECT_EQ(answer_cache_options({}, clean).reference_code, "code");
}

TEST(ShaderCompiler, IsAProcessUnlessUsersAskForNone) {
  const Registry registry({});
  const Context context{.registry = registry, .command_line = {}, .shader_compiler = {"assay", "compile"}};
  RunOptions options;
  EXPECT_EQ(shader_compiler(options, context), context.shader_compiler);
  options.attempt.isolation = false;
  EXPECT_EQ(shader_compiler(options, context), context.shader_compiler) << "as --watch runs";
  options.attempt.compiles_here = true;
  EXPECT_TRUE(shader_compiler(options, context).empty());
}

TEST(PreparingThreads, AreOneLessThanReferencesHaveAndAtLeastOne) {
  EXPECT_EQ(preparing_threads({}, 16), 15);
  EXPECT_EQ(preparing_threads({}, 1), 1);
  EXPECT_GE(preparing_threads({}, 0), 1);
}

TEST(PreparingThreads, AreThoseThatTheCommandLineAsksFor) {
  RunOptions options;
  options.preparing_threads = 0;
  EXPECT_EQ(preparing_threads(options, 16), 0);
  options.preparing_threads = 3;
  EXPECT_EQ(preparing_threads(options, 16), 3);
  options.validation = true;
  EXPECT_EQ(preparing_threads(options, 16), 0) << "messages are about the row that runs";
}

}  // namespace
}  // namespace assay::app
