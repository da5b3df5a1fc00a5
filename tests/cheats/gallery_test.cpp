#include "tests/cheats/gallery.h"

#include "harness/cases/expansion/load.h"
#include "harness/engine/accuracy/data_set.h"
#include "ops/registry.h"
#include "tests/support/assay_binary.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tree_shader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>

namespace assay::test {
namespace {

using ::testing::HasSubstr;

class GalleryTest : public testing::Test {
 protected:
  std::vector<GalleryEntry> read(const std::string& entries) {
    return read_gallery(folder_.write("g.yaml",
                                      "kernels:\n"
                                      "  relu: {shader: q8ta_relu.comp, input: 0, output: 1, cases: some}\n"
                                      "  add: {shader: q8ta_add.comp, input: 0, output: 2, cases: some}\n"
                                      "entries:\n" +
                                          entries));
  }

  std::string refusal(const std::string& entries) try {
    read(entries);
    return "";
  } catch (const std::runtime_error& error) {
    return folder_.without_path(error.what());
  }

  TemporaryFolder folder_;
};

TEST_F(GalleryTest, HasAnEntryForEachKernel) {
  const auto entries =
      read("  - {name: n, of: [relu, add], main: x, verdict: wrong, word: unwritten, ci: true}\n");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].name, "n_of_relu");
  EXPECT_EQ(entries[1].kernel.shader, "q8ta_add.comp");
  EXPECT_EQ(entries[1].word, "unwritten");
  EXPECT_TRUE(entries[1].in_ci);
}

TEST_F(GalleryTest, NamesTheLineOfWhatIsWrong) {
  EXPECT_THAT(refusal("  - {name: n, of: relu, main: x, verdict: bad}\n"),
              HasSubstr("g.yaml:5: 'bad' is no"));
  EXPECT_THAT(refusal("  - {name: n, of: mul, main: x, verdict: wrong}\n"), HasSubstr("no kernel 'mul'"));
  EXPECT_THAT(refusal("  - {name: n, of: relu, verdict: wrong}\n"), HasSubstr("changes nothing"));
  EXPECT_THAT(refusal("  - {name: n, of: relu, mian: x, verdict: wrong}\n"), HasSubstr("unknown key 'mian'"));
  EXPECT_THAT(refusal("  - {name: n, of: [relu, relu], main: x, verdict: wrong}\n"),
              HasSubstr("second entry"));
}

TEST(ChangedSource, HasTheEditsAndBothMains) {
  GalleryEntry entry;
  entry.kernel = {.shader = "s", .cases = "", .input = "0", .output = "1"};
  entry.edits = {{"= 1;", "= 2;"}};
  entry.main = "void main() { honest_main(); }\n";
  EXPECT_EQ(
      changed_source(entry, "x = 1; void main() {}"),
      "x = 2; void honest_main() {}\n#define INPUT 0\n#define OUTPUT 1\nvoid main() { honest_main(); }\n");
  EXPECT_THROW(changed_source(entry, "void main() {}"), std::runtime_error);
  EXPECT_THROW(changed_source(entry, "x = 1; y = 1; void main() {}"), std::runtime_error);
}

TEST(Gallery, HasManyCheatsAndHonestOnes) {
  const auto entries = read_gallery(ASSAY_SOURCE_DIR "/tests/cheats/gallery.yaml");
  const auto is_honest = [](const GalleryEntry& entry) {
    return entry.verdict == "trusted" || entry.verdict == "unchanged";
  };
  const auto honest = std::ranges::count_if(entries, is_honest);
  EXPECT_GE(honest, 30);
  EXPECT_GE(static_cast<std::ptrdiff_t>(entries.size()) - honest, 60);
}

// Every submission of gallery.yaml gets the verdict and the word that it must get from `assay judge`.

namespace fs = std::filesystem;

const fs::path gallery = ASSAY_SOURCE_DIR "/tests/cheats/gallery.yaml";

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

/// `KNOWN` stands for the first word of the repository's data of the case `shown`.
std::string with_known_answers(std::string source, const fs::path& cases) {
  const std::string known = "KNOWN";
  const std::size_t at = source.find(known);
  if (at != std::string::npos)
    source.replace(at, known.size(), fmt::format("{}u", first_word(cases, "shown")));
  return source;
}

struct Judged {
  int exit_code = 0;
  nlohmann::json json;
  std::string text;

  std::string verdict() const { return json.is_object() ? json.at("verdict") : ""; }
  std::set<std::string> words() const {
    std::set<std::string> found;
    if (!json.is_object()) return found;
    for (const auto& reason : json.at("reasons")) found.insert(reason.at("word").get<std::string>());
    return found;
  }
};

Judged judge(const GalleryEntry& entry) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", entry.kernel.cases);
  if (!entry.edits.empty() || !entry.main.empty()) {
    const std::string honest = tree_shader(entry.kernel.shader);
    folder.write("mine/" + entry.kernel.shader, with_known_answers(changed_source(entry, honest), cases));
  }
  for (const auto& [name, text] : entry.files) folder.write("mine/" + name, text);
  fs::create_directories(folder / "mine");
  for (const auto& [name, target] : entry.links) fs::create_symlink(target, folder / ("mine/" + name));
  std::vector<std::string> words{"judge",    folder / "mine", "--cases",    cases,  "--out",  folder / "out",
                                 "--budget", "0.02",          "--ceilings", "none", "--json", "-"};
  if (std::ranges::find(entry.options, "--rows") == entry.options.end())
    words.insert(words.end(), {"--rows", "2"});
  words.insert(words.end(), entry.options.begin(), entry.options.end());
  const ProcessResult result = assay(words);
  return {result.exit_code, nlohmann::json::parse(result.out, nullptr, false), result.out + result.err};
}

/// Whether the judgement is the one that the entry must get.
bool is_as_it_must_be(const GalleryEntry& entry, const Judged& judged) {
  if (entry.verdict == "unchanged" || entry.verdict == "refused") {
    const std::string part = entry.verdict == "unchanged" ? "there is nothing to judge" : entry.word;
    return judged.exit_code == 2 && judged.text.find(part) != std::string::npos;
  }
  return judged.verdict() == entry.verdict && (entry.word.empty() || judged.words().contains(entry.word));
}

bool is_lavapipe() {
  static const bool has_it = assay({"devices"}).out.find("llvmpipe") != std::string::npos;
  return has_it;
}

bool has_matrices() {
  static const bool has_them = assay({"devices"}).out.find("i8 to i32") != std::string::npos;
  return has_them;
}

class Submissions : public testing::TestWithParam<GalleryEntry> {};

TEST_P(Submissions, AreJudgedAsTheyMustBe) {
  const GalleryEntry& entry = GetParam();
  if (entry.lavapipe_only && !is_lavapipe()) GTEST_SKIP() << "it may take down a real device";
  if (entry.kernel.needs_matrices && !has_matrices()) GTEST_SKIP() << "the device has no matrices";
  const Judged judged = judge(entry);
  if (!entry.pending.empty()) {
    EXPECT_FALSE(is_as_it_must_be(entry, judged))
        << entry.name << " is judged as it must be: remove `pending: " << entry.pending << "`";
    return;
  }
  EXPECT_TRUE(is_as_it_must_be(entry, judged))
      << entry.name << " must be " << entry.verdict << " " << entry.word << "\n"
      << judged.text;
  if (judged.json.is_object()) {
    EXPECT_EQ(judged.json.at("ratio").is_null(), judged.verdict() != "trusted")
        << "a wrong kernel has no time";
  }
}

/// Returns nothing if the gallery cannot be read: the test Gallery.HasManyCheatsAndHonestOnes says why.
std::vector<GalleryEntry> entries(bool in_ci) {
  try {
    std::vector<GalleryEntry> all = read_gallery(gallery);
    std::erase_if(all, [in_ci](const GalleryEntry& entry) { return entry.in_ci != in_ci; });
    return all;
  } catch (const std::runtime_error&) {
    return {};
  }
}

const auto name_of_entry = [](const auto& entry) { return entry.param.name; };

INSTANTIATE_TEST_SUITE_P(Ci, Submissions, testing::ValuesIn(entries(true)), name_of_entry);
// `--gtest_also_run_disabled_tests` runs the others, too.
INSTANTIATE_TEST_SUITE_P(DISABLED_Rest, Submissions, testing::ValuesIn(entries(false)), name_of_entry);

}  // namespace

}  // namespace assay::test
