#include "harness/cases/load.h"
#include "harness/engine/accuracy/data_set.h"
#include "ops/registry.h"
#include "tests/support/assay_binary.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>

// Submissions that cheat, and the word that `assay judge` has for each (README.md has the table). A cheat is
// an honest kernel of shaders/, whose main() is called by one from this folder.

namespace assay::test {
namespace {

namespace fs = std::filesystem;

struct Victim {
  std::string kernel;  ///< file of shaders/
  std::string cases;   ///< rows that run it
  int input = 0;
  int output = 0;
};

const Victim relu{"q8ta_relu.comp", R"(op: q8ta_relu
defaults: {x: {scale: 0.05, zero_point: -20}, y: {scale: 0.011, zero_point: -100}, fill: uniform}
cases:
  - {name: shown, shape: [3, 343], forms: {x: buffer/4W, y: buffer/4W}}
  - {name: timed, mode: perf, shape: [8, 1024], forms: {x: buffer/4W, y: buffer/4W}}
)",
                  0, 1};

const Victim add{"q8ta_add.comp", R"(op: q8ta_add
defaults:
  a: {scale: 0.02, zero_point: 3}
  b: {scale: 0.03, zero_point: -7}
  y: {scale: 0.05, zero_point: 2}
  fill: uniform
cases:
  - {name: shown, shape: [3, 343], forms: {a: buffer/4W, b: buffer/4W, y: buffer/4W}}
  - {name: timed, mode: perf, shape: [8, 1024], forms: {a: buffer/4W, b: buffer/4W, y: buffer/4W}}
)",
                 0, 2};

const Victim tiled{"linear_tiled.comp", R"(op: linear_q8csw
cases:
  - {name: shown, mode: both, M: 5, K: 64, N: 24, impl: tiled}
)"};

const Victim depthwise{"conv_depthwise.comp", R"(op: q8ta_conv2d_dw
defaults: {x: {scale: 0.05, zero_point: -20}, y: {scale: 0.4, zero_point: 3}}
cases:
  - {name: shown, mode: both, C: 16, H: 9, W: 11, kernel: [3, 3], padding: [1, 1], impl: all}
)"};

struct Cheat {
  std::string name;
  const Victim* victim;
  std::string trick;  ///< file of this folder
  std::string word;   ///< of one of the reasons; empty: it is honest
  std::string verdict;
  std::string defines = {};
};

void PrintTo(const Cheat& cheat, std::ostream* stream) {
  *stream << cheat.trick;
}

/// The first word of the data that the repository's seed gives a case that lies in memory as it is numbered.
std::uint32_t first_word(const fs::path& cases, std::string_view name) {
  static const Registry registry = ops::registry();
  const LoadResult loaded = load_cases(std::array{cases}, registry);
  for (const Case& one : loaded.cases) {
    if (one.name != name) continue;
    std::uint32_t word = 0;
    std::memcpy(&word, make_data_set(one).inputs.front().bytes().data(), sizeof word);
    return word;
  }
  throw std::runtime_error("no case " + std::string(name));
}

/// The kernel with the trick behind it.
std::string cheating(const Cheat& cheat, const std::string& defines) {
  std::string text = read_file(fs::path(ASSAY_SOURCE_DIR "/shaders") / cheat.victim->kernel);
  const std::string main = "void main()";
  const std::size_t at = text.find(main);
  if (at == std::string::npos) throw std::runtime_error(cheat.victim->kernel + " has no main()");
  text.replace(at, main.size(), "void honest_main()");
  const std::string trick =
      read_file(fs::path(ASSAY_SOURCE_DIR "/tests/faults/cheats") / (cheat.trick + ".glslh"));
  if (trick.empty()) throw std::runtime_error("there is no " + cheat.trick);
  return fmt::format("{}\n#define INPUT {}\n#define OUTPUT {}\n{}\n{}", text, cheat.victim->input,
                     cheat.victim->output, defines, trick);
}

struct Judged {
  int exit_code = 0;
  nlohmann::json json;
  std::string text;
};

Judged judge(const Cheat& cheat) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", cheat.victim->cases);
  std::string defines = cheat.defines;
  if (cheat.trick == "known_answers") defines = fmt::format("#define KNOWN {}u", first_word(cases, "shown"));
  folder.write("mine/" + cheat.victim->kernel, cheating(cheat, defines));
  const ProcessResult result =
      assay({"judge", folder / "mine", "--cases", cases, "--out", folder / "out", "--rows", "3", "--budget",
             "0.02", "--ceilings", "none", "--json", "-"});
  return {result.exit_code, nlohmann::json::parse(result.out, nullptr, false), result.out + result.err};
}

class Cheats : public testing::TestWithParam<Cheat> {};

TEST_P(Cheats, AreCaughtByAWordOfTheirOwn) {
  const Cheat& cheat = GetParam();
  const Judged judged = judge(cheat);
  ASSERT_TRUE(judged.json.is_object()) << judged.text;
  EXPECT_EQ(judged.json.at("verdict"), cheat.verdict) << judged.text;
  EXPECT_EQ(judged.exit_code, cheat.verdict == "trusted" ? 0 : 1);
  EXPECT_EQ(judged.json.at("ratio").is_null(), cheat.verdict != "trusted") << "a wrong kernel has no time";
  std::set<std::string> words;
  for (const auto& reason : judged.json.at("reasons")) words.insert(reason.at("word").get<std::string>());
  if (cheat.word.empty()) return;
  EXPECT_THAT(words, testing::Contains(cheat.word)) << judged.text;
}

std::vector<Cheat> cheats() {
  std::vector<Cheat> all;
  for (const auto& [of, kernel] : {std::pair{"relu", &relu}, std::pair{"add", &add}}) {
    const std::string name = of;
    const Victim* const victim = kernel;
    const auto plan = [&](const std::string& trick, const std::string& word, const std::string& verdict,
                          const std::string& suffix = "", const std::string& defines = "") {
      all.push_back({fmt::format("{}{}_of_{}", trick, suffix, name), victim, trick, word, verdict, defines});
    };
    plan("mark_in_element", "reads_output", "distrusted");
    plan("mark_in_padding", "reads_output", "distrusted");
    plan("mark_in_order", "reads_output", "distrusted");
    plan("mark_in_input", "writes_input", "distrusted");
    plan("less_without_guards", "", "trusted");
    plan("reads_elsewhere", "", "trusted");
    plan("less_by_poison", "depends_on_old_output", "wrong", "_0", "#define PARITY 0u");
    plan("less_by_poison", "reads_out_of_bounds", "wrong", "_1", "#define PARITY 1u");
    plan("less_at_timed_sizes", "unwritten", "wrong");
    plan("known_answers", "wrong_on_secret_data", "distrusted");
  }
  all.push_back({"work_in_setup_of_linear", &tiled, "work_in_setup", "changes_setup", "distrusted"});
  all.push_back({"work_in_setup_of_depthwise", &depthwise, "work_in_setup", "changes_setup", "distrusted"});
  return all;
}

INSTANTIATE_TEST_SUITE_P(In, Cheats, testing::ValuesIn(cheats()),
                         [](const auto& cheat) { return cheat.param.name; });

}  // namespace
}  // namespace assay::test
