#include "harness/gpu/shaders/shader_sources.h"

#include "tests/support/error_text.h"
#include "tests/support/gpu.h"

namespace assay::gpu {
std::span<const EmbeddedSource> embedded_testdata();
namespace {

using namespace test;

using ::testing::ElementsAre;
namespace fs = std::filesystem;

std::map<std::string, std::string> files_below(const fs::path& root) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path& file = entry.path();
    if (file.extension() == ".comp" || file.extension() == ".glslh") {
      files[file.lexically_relative(root).generic_string()] = read_file(file);
    }
  }
  return files;
}

std::map<std::string, std::string> as_map(std::span<const EmbeddedSource> sources) {
  std::map<std::string, std::string> files;
  for (const EmbeddedSource& source : sources) {
    files[std::string(source.name)] = source.text;
  }
  return files;
}

TEST(EmbeddedShaders, AreTheFilesOfTheTreeByteByByte) {
  EXPECT_EQ(as_map(embedded_shaders()), files_below(fs::path(ASSAY_SOURCE_DIR) / "shaders"));
  EXPECT_FALSE(embedded_shaders().empty());
}

TEST(EmbeddedShaders, AreKernelsOfDifferentFileNames) {
  std::set<std::string> names;
  for (const EmbeddedSource& source : embedded_shaders()) {
    const fs::path path = source.name;
    if (path.extension() != ".comp") continue;
    EXPECT_TRUE(names.insert(path.filename()).second)
        << path << ": kernels are found by their file names, and this one is taken";
  }
}

TEST(EmbeddedShaders, HaveTheirPathsInTheTree) {
  EXPECT_EQ(path_in_tree("copy.comp"), "shaders/relayout/copy.comp");
  EXPECT_EQ(path_in_tree("common/quantize.glslh"), "shaders/common/quantize.glslh");
  EXPECT_EQ(path_in_tree("new.comp"), "shaders/new.comp");
}

TEST(EmbeddedShaders, SurviveAllThatCMakeWouldEat) {
  const auto embedded = as_map(embedded_testdata());
  EXPECT_EQ(embedded, files_below(fs::path(ASSAY_SOURCE_DIR) / "harness/gpu/testdata/embed"));
  EXPECT_EQ(embedded.at("common/empty.glslh"), "");
  EXPECT_THAT(embedded.at("odd.comp"), ::testing::HasSubstr("${NOT_A_VARIABLE} @X@"));
}

TEST(IncludedNames, AreThoseOfIncludeLines) {
  EXPECT_THAT(included_names("#include \"a.glslh\"\n  #  include\t\"common/b.glslh\" // why\n"
                             "int include; // #include \"no.glslh\"\n#include <no.glslh>\n#include \"open\n"
                             "#include \"last.glslh\""),
              ElementsAre("a.glslh", "common/b.glslh", "last.glslh"));
  EXPECT_THAT(included_names(""), ElementsAre());
}

/// As glslang's preprocessor reads them.
TEST(IncludedNames, AreSeenBehindCommentsAndInContinuedLines) {
  EXPECT_THAT(included_names("\xEF\xBB\xBF#include \"a.glslh\"\n/* why */ #include \"b.glslh\"\n#inc\\\nlude "
                             "\\\r\n\"c.glslh\"\n# /* two\nlines */ include \"d//e.glslh\"\n"),
              ElementsAre("a.glslh", "b.glslh", "c.glslh", "d//e.glslh"));
  EXPECT_THAT(included_names("/* #include \"no.glslh\" */ /* \n#include \"no.glslh\"\n"), ElementsAre());
  EXPECT_THAT(included_names("// a comment \\\n#include \"no.glslh\"\n#include \"yes.glslh\""),
              ElementsAre("yes.glslh"));
}

/// As for glslang's preprocessor.
TEST(IncludedNames, AreSeenWhereACarriageReturnAloneEndsALine) {
  EXPECT_THAT(
      included_names("// why\r#include \"a.glslh\"\r#inc\\\rlude \"b.glslh\"\r\n#include \"c.glslh\"\r\n"),
      ElementsAre("a.glslh", "b.glslh", "c.glslh"));
}

MATCHER_P4(IsSource, name, path, display, text, "") {
  return arg && arg->name == name && arg->path == path && arg->display == display && arg->text == text;
}

class ShaderSourcesTest : public ::testing::Test {
 protected:
  TemporaryFolder first;
  TemporaryFolder second;
  const std::vector<EmbeddedSource> embedded{{"a.comp", "embedded a"}, {"common/b.glslh", "embedded b"}};
};

TEST_F(ShaderSourcesTest, DirectoriesAreSearchedInOrderBeforeTheEmbeddedSources) {
  first.write("common/b.glslh", "first b");
  second.write("common/b.glslh", "second b");
  const fs::path c = second.write("c.comp", "second c");
  const ShaderSources sources({first.path(), second.path()}, embedded);
  EXPECT_EQ(sources.find("common/b.glslh")->text, "first b");
  EXPECT_EQ(sources.find("c.comp")->text, "second c");
  EXPECT_EQ(sources.find("c.comp")->display, c.string());
  EXPECT_EQ(sources.find("a.comp")->text, "embedded a");
  EXPECT_EQ(sources.find("a.comp")->display, "shaders/a.comp");
  EXPECT_EQ(sources.find("common"), std::nullopt);
  EXPECT_THAT(sources.names(), ElementsAre("a.comp", "c.comp", "common/b.glslh"));
}

TEST_F(ShaderSourcesTest, AKernelIsFoundByItsFileNameInAnyFolder) {
  const std::vector<EmbeddedSource> nested{{"family/a.comp", "embedded a"}, {"family/b.comp", "embedded b"}};
  const fs::path flat = first.write("a.comp", "flat a");
  const fs::path deep = second.write("x/y/b.comp", "deep b");
  second.write("x/b.glslh", "");
  const ShaderSources none({}, nested), sources({first.path(), second.path()}, nested);
  EXPECT_THAT(none.find("a.comp"),
              IsSource("a.comp", "family/a.comp", "shaders/family/a.comp", "embedded a"));
  EXPECT_THAT(sources.find("a.comp"), IsSource("a.comp", "a.comp", flat.string(), "flat a"));
  EXPECT_THAT(sources.find("x/../b.comp"), IsSource("x/../b.comp", "x/y/b.comp", deep.string(), "deep b"));
  EXPECT_EQ(sources.find("family/b.comp")->text, "embedded b") << "a path is a path";
  EXPECT_EQ(sources.find("b.glslh"), std::nullopt) << "and so is the name of an include";
}

TEST_F(ShaderSourcesTest, AKernelThatIsGoneMeanwhileIsTakenFromElsewhere) {
  const fs::path mine = first.write("x/a.comp", "mine");
  const ShaderSources sources({first.path()}, embedded);
  EXPECT_EQ(sources.find("a.comp")->text, "mine");
  fs::remove(mine);
  EXPECT_EQ(sources.find("a.comp")->text, "embedded a");
}

TEST_F(ShaderSourcesTest, TwoKernelsOfOneFileNameAreAnErrorWhereItIsAskedFor) {
  const fs::path flat = first.write("a.comp", "flat"), deep = first.write("old/a.comp", "deep");
  const ShaderSources sources({first.path()}, embedded);
  EXPECT_EQ(test::error_of([&] { static_cast<void>(sources.closure("a.comp")); }),
            "looking for the kernel 'a.comp': '" + flat.string() + "' and '" + deep.string() +
                "' have the same file name, by which a kernel is found in all folders of '" +
                first.path().string() + "'; remove or rename one of them");
  EXPECT_EQ(sources.find("old/a.comp")->text, "deep");
  EXPECT_EQ(sources.find("common/b.glslh")->text, "embedded b");
  const std::vector<EmbeddedSource> twice{{"x/a.comp", ""}, {"y/a.comp", ""}};
  EXPECT_THAT(test::error_of([&] { static_cast<void>(ShaderSources({}, twice).find("a.comp")); }),
              ::testing::HasSubstr("'shaders/x/a.comp' and 'shaders/y/a.comp' have the same file name"));
}

TEST_F(ShaderSourcesTest, ANameMayLeadThroughFolders) {
  const ShaderSources sources({first.path()}, embedded);
  EXPECT_EQ(sources.find("common/../common/b.glslh")->text, "embedded b");
  EXPECT_EQ(sources.find("common/../common/b.glslh")->display, "shaders/common/b.glslh");
  EXPECT_EQ(sources.find("../common/b.glslh"), std::nullopt);
}

TEST_F(ShaderSourcesTest, TheClosureFollowsIncludesOfIncludesAndCycles) {
  first.write("a.comp", "#include \"x.glslh\"\n#include \"missing.glslh\"");
  first.write("x.glslh", "#include \"common/b.glslh\"\n#include \"x.glslh\"");
  first.write("unrelated.glslh", "");
  const auto closure = ShaderSources({first.path()}, embedded).closure("a.comp");
  EXPECT_EQ(closure.size(), 3u);
  EXPECT_TRUE(closure.contains("a.comp") && closure.contains("x.glslh") &&
              closure.contains("common/b.glslh"));
  EXPECT_TRUE(ShaderSources({}, embedded).closure("missing.comp").empty());
}

TEST_F(ShaderSourcesTest, ANameStaysInsideOfTheDirectories) {
  first.write("below/a.comp", "#include \"../secret\"");
  first.write("secret", "secret");
  const ShaderSources sources({first.path() / "below"}, embedded);
  EXPECT_EQ(sources.find("../secret"), std::nullopt);
  EXPECT_EQ(sources.find("x/../../secret"), std::nullopt);
  EXPECT_EQ(sources.find((first.path() / "secret").string()), std::nullopt);
  EXPECT_EQ(sources.closure("a.comp").size(), 1U);
  EXPECT_EQ(sources.find("x/../a.comp")->text, "#include \"../secret\"");
}

TEST_F(ShaderSourcesTest, ALinkToNothingIsAnErrorWhereItIsNamedAsAShader) {
  const fs::path directory = first.path() / "linked";
  fs::create_directories(directory / "folder.comp");
  fs::create_symlink("note", directory / "note");
  const ShaderSources sources({directory}, {});
  EXPECT_THAT(sources.names(), ::testing::IsEmpty()) << "what is no shader does not matter";
  for (const auto& [name, why] : {std::pair("itself.comp", "Too many levels of symbolic links"),
                                  std::pair("gone.glslh", "No such file or directory")}) {
    fs::create_symlink(std::string(name) == "itself.comp" ? name : "nowhere", directory / name);
    const std::string story =
        "looking for shaders: '" + (directory / name).string() + "' cannot be read: " + why;
    EXPECT_EQ(test::error_of([&] { static_cast<void>(sources.names()); }), story);
    EXPECT_EQ(test::error_of([&] { static_cast<void>(sources.find("any.comp")); }), story);
    EXPECT_FALSE(sources.find("gone.glslh")) << "a path is looked for where it would be";
    fs::remove(directory / name);
  }
}

TEST_F(ShaderSourcesTest, ADirectoryThatIsNoneIsAnError) {
  try {
    const ShaderSources sources({first.path() / "none"}, embedded);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "looking for shaders in '" + (first.path() / "none").string() + "': it is not a directory");
  }
}

}  // namespace
}  // namespace assay::gpu
