#include "tests/support/assay_binary.h"
#include "tests/support/model_files.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

// `assay model`, from a file to rows that pass.

namespace assay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Blocks of 64 values and 4 heads.
constexpr const char* small_config = R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
  "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 320})";

TEST(Model, AFileBecomesCasesThatPass) {
  const TemporaryFolder folder;
  const std::string out = folder / "small";
  const ProcessResult made =
      assay({"model", folder.write("Small-Llama.json", small_config), "--out", out, "--prompt", "5"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("wrote " + out + "/rms_norm.yaml\n"), HasSubstr("34 cases of 7 ops."),
                              HasSubstr("assay summary --model small_llama assay-out/scratch\n")));
  const ProcessResult listed = assay({"list", out});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("rotary_embedding/small_llama_decode/attn.rotary_q/WP.WP/pairs\n"));
  EXPECT_EQ(std::ranges::count(listed.out, '\n'), 34);
  const ProcessResult run =
      assay({"run", out, "--mode", "accu", "--out", folder / "o", "--ceilings", "none"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("PASS  "));
  EXPECT_THAT(run.out,
              AllOf(Not(HasSubstr("FAIL")), Not(HasSubstr("UNSUPPORTED")), Not(HasSubstr("INVALID"))));
}

TEST(Model, ItsNormsArePartOfAStepThoughTheirOpKnowsNoTokens) {
  const TemporaryFolder folder;
  const std::string out = folder / "small", report = folder / "o";
  ASSERT_EQ(assay({"model", folder.write("s.json", small_config), "--out", out, "--prompt", "5"}).exit_code,
            0);
  const ProcessResult run = assay({"run", out, "--mode", "perf", "--filter", "*prefill/norm*", "--out",
                                   report, "--ceilings", "none", "--budget", "0.01"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const ProcessResult summary = assay({"summary", "--model", "s", report});
  EXPECT_THAT(summary.out, AllOf(HasSubstr("5 tokens per step\n"), HasSubstr(" 2 of 2 ")));
}

TEST(Model, EachContextIsAStep) {
  const TemporaryFolder folder;
  const std::string out = folder / "small", report = folder / "o";
  ASSERT_EQ(assay({"model", folder.write("s.json", small_config), "--out", out, "--prompt", "5", "--context",
                   "9", "--context", "4"})
                .exit_code,
            0);
  const ProcessResult run =
      assay({"run", out, "--mode", "perf", "--filter", "*decode*/attn.rotary*:*decode/norm*", "--out", report,
             "--ceilings", "none", "--budget", "0.01"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const ProcessResult summary = assay({"summary", "--model", "s", report});
  EXPECT_THAT(summary.out,
              AllOf(HasSubstr("decode, 1 token per step at context 4\n"),
                    HasSubstr("decode, 1 token per step at context 9\n"), HasSubstr(" 4 of 4 ")));
}

TEST(Model, ErrorsSayWhatToDo) {
  const TemporaryFolder folder;
  const std::string file = folder.write("m.json", small_config);
  const auto error = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"model", file, "--out", folder / "out"});
    const ProcessResult result = assay(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(folder / "out"));
    return result.err;
  };
  EXPECT_THAT(error({"--name", "../up"}),
              HasSubstr("naming a model '../up': a name has 1 to 64 lower-case letters"));
  EXPECT_THAT(error({"--linear", "linear"}), HasSubstr("'linear' is no op for its linear layers"));
  EXPECT_THAT(error({"--group-size", "64"}), HasSubstr("whose greatest common divisor is 32"));
  EXPECT_THAT(error({"--group-size", "4"}), HasSubstr("--group-size"));
  EXPECT_THAT(error({"--dtype", "f64"}), HasSubstr("--dtype"));
  folder.write("m.json", R"({"weight_map": {"a": "/etc/passwd"}})");
  EXPECT_THAT(error({}), HasSubstr("it is an index of .safetensors files"));
  folder.write("m.json", GgufBytes().string("general.architecture", "gemma2\x1b[31m").bytes());
  EXPECT_THAT(error({}), AllOf(HasSubstr("gemma2\\x1b[31m"), Not(HasSubstr("\x1b"))));
}

TEST(Model, AFolderAndAMissingFileAreNoModel) {
  const TemporaryFolder folder;
  EXPECT_EQ(assay({"model", folder.path(), "--name", "m", "--out", folder / "out"}).exit_code, 2);
  const ProcessResult missing = assay({"model", folder / "none.gguf", "--out", folder / "out"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("none.gguf: No such file or directory"));
}

}  // namespace
}  // namespace assay::test
