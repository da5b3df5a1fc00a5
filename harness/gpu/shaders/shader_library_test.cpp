#include "harness/gpu/shaders/shader_library.h"

#include "harness/base/hash.h"
#include "harness/gpu/shaders/compile.h"
#include "harness/gpu/spirv/spirv_rules.h"
#include "tests/support/gpu.h"

#include <cstdlib>
#include <sys/stat.h>

namespace assay::gpu {
namespace {

using namespace test;
namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SpirvCacheTest : public ::testing::Test {
 protected:
  TemporaryFolder directory;
  SpirvCache cache{directory.path() / "deep" / "inside"};
  const std::string key = source_hash("key");
  const std::vector<std::uint32_t> module{0x07230203, 1, 2, 3, 0xFFFFFFFF};
};

TEST_F(SpirvCacheTest, GivesBackWhatWasStored) {
  EXPECT_EQ(cache.load(key), std::nullopt);
  cache.store(key, module);
  EXPECT_EQ(cache.load(key), module);
  cache.store(key, {1, 2});
  EXPECT_EQ(cache.load(key), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(std::distance(fs::directory_iterator(cache.file_of(key).parent_path()), {}), 1)
      << "a temporary file was left behind";
}

TEST_F(SpirvCacheTest, DistrustsEveryFlippedByte) {
  cache.store(key, module);
  const std::string good = read_file(cache.file_of(key));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    write_file(cache.file_of(key), bad);
    EXPECT_EQ(cache.load(key), std::nullopt) << "byte " << i;
  }
}

TEST_F(SpirvCacheTest, DistrustsEveryTruncationAndTail) {
  cache.store(key, module);
  const std::string good = read_file(cache.file_of(key));
  for (std::size_t length = 0; length < good.size(); ++length) {
    write_file(cache.file_of(key), good.substr(0, length));
    EXPECT_EQ(cache.load(key), std::nullopt) << length << " bytes";
  }
  write_file(cache.file_of(key), good + "more");
  EXPECT_EQ(cache.load(key), std::nullopt);
}

TEST_F(SpirvCacheTest, DistrustsTheEntryOfAnotherKey) {
  const std::string other = source_hash("other");
  cache.store(other, module);
  fs::rename(cache.file_of(other), cache.file_of(key));
  EXPECT_EQ(cache.load(key), std::nullopt);
}

TEST_F(SpirvCacheTest, AClaimOfManyWordsAllocatesNothing) {
  cache.store(key, module);
  std::string huge = read_file(cache.file_of(key));
  huge.replace(12, 4, "\xff\xff\xff\xff", 4);
  write_file(cache.file_of(key), huge);
  EXPECT_EQ(cache.load(key), std::nullopt);
}

TEST_F(SpirvCacheTest, DoesNotReadWhatIsNoRegularFileOrTooLarge) {
  cache.store(key, module);
  fs::resize_file(cache.file_of(key), std::uintmax_t{1} << 40);
  EXPECT_EQ(cache.load(key), std::nullopt);
  fs::remove(cache.file_of(key));
  ASSERT_EQ(::mkfifo(cache.file_of(key).c_str(), 0600), 0);
  EXPECT_EQ(cache.load(key), std::nullopt) << "there is no writer to wait for";
  cache.store(key, module);
  EXPECT_EQ(cache.load(key), module);
}

TEST_F(SpirvCacheTest, ADirectoryThatCannotBeMadeIsNoError) {
  const SpirvCache nowhere(directory.write("file", "in the way") / "cache");
  EXPECT_NO_THROW(nowhere.store(key, module));
  EXPECT_EQ(nowhere.load(key), std::nullopt);
}

constexpr const char* valid =
    "#version 450\n#include \"common/value.glslh\"\nlayout(local_size_x_id = 0) in;\n"
    "layout(std430, set = 0, binding = 0) buffer Y { uint y[]; };\n"
    "void main() { y[0] = value(); }\n";

class ShaderLibraryTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { static const GlslangProcess shared; }  // saves time: see GpuTest

  void SetUp() override {
    sources.write("ok.comp", valid);
    sources.write("common/value.glslh", "uint value() { return 1u; }\n");
  }

  ShaderLibrary library() {
    return ShaderLibrary({.directories = {sources.path()}, .cache_directory = cache.path()});
  }

  /// Compiles as a new process would, with an empty memory cache.
  Spirv compile(const std::string& shader, const std::vector<Define>& defines = {}) {
    return ShaderLibrary({.directories = {sources.path()}, .cache_directory = cache.path()})
        .compile(shader, defines);
  }

  std::string failure(const std::string& shader, const std::vector<Define>& defines = {}) {
    try {
      compile(shader, defines);
    } catch (const CompileError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  std::string path(const std::string& name) const { return (sources.path() / name).string(); }

  std::vector<fs::path> entries() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(cache.path())) {
      files.push_back(entry.path());
    }
    return files;
  }

  TemporaryFolder sources;
  TemporaryFolder cache;
};

TEST_F(ShaderLibraryTest, MakesValidSpirv13) {
  const Spirv spirv = compile("ok.comp");
  ASSERT_GT(spirv.words.size(), 5u);
  EXPECT_EQ(spirv.words[0], 0x07230203u);
  EXPECT_EQ(spirv.words[1], 0x00010300u);
  EXPECT_EQ(validate_spirv(spirv.words), std::nullopt);
  EXPECT_GT(spirv.compile_ms, 0);
  EXPECT_EQ(spirv.hash.size(), 64u);
}

TEST_F(ShaderLibraryTest, TheValidatorSeesDamage) {
  Spirv spirv = compile("ok.comp");
  spirv.words.resize(spirv.words.size() - 2);
  EXPECT_NE(validate_spirv(spirv.words), std::nullopt);
}

TEST_F(ShaderLibraryTest, ASecondProcessTakesItFromTheCache) {
  const Spirv first = compile("ok.comp");
  ASSERT_EQ(entries().size(), 1u);
  const Spirv second = compile("ok.comp");
  EXPECT_EQ(second.compile_ms, 0);
  EXPECT_EQ(second.words, first.words);
  EXPECT_EQ(second.hash, first.hash);
}

TEST_F(ShaderLibraryTest, OneLibraryCompilesAVariantOnce) {
  ShaderLibrary shaders = library();
  const Spirv* const first = &shaders.compile("ok.comp", {});
  shaders.compile("ok.comp", {{"A", "1"}});
  EXPECT_EQ(&shaders.compile("ok.comp", {}), first);
  EXPECT_EQ(entries().size(), 2u);
}

TEST_F(ShaderLibraryTest, ADamagedEntryIsRebuiltAndRepaired) {
  const Spirv good = compile("ok.comp");
  const fs::path file = entries().front();
  for (const auto& damage : std::vector<std::function<void()>>{
           [&] { fs::resize_file(file, fs::file_size(file) - 4); }, [&] { fs::resize_file(file, 0); },
           [&] { write_file(file, "another program's file"); },
           [&] {
             std::string bytes = read_file(file);
             bytes.at(100) = '\x55';
             write_file(file, bytes);
           }}) {
    damage();
    const Spirv rebuilt = compile("ok.comp");
    EXPECT_GT(rebuilt.compile_ms, 0);
    EXPECT_EQ(rebuilt.words, good.words);
    EXPECT_EQ(compile("ok.comp").compile_ms, 0);
  }
}

TEST_F(ShaderLibraryTest, AChangedSourceIncludeOrDefineIsCompiledAnew) {
  const Spirv first = compile("ok.comp");
  EXPECT_GT(compile("ok.comp", {{"A", "1"}}).compile_ms, 0);
  EXPECT_GT(compile("ok.comp", {{"A", "2"}}).compile_ms, 0);
  sources.write("common/value.glslh", "uint value() { return 2u; }\n");
  const Spirv second = compile("ok.comp");
  EXPECT_GT(second.compile_ms, 0);
  EXPECT_NE(second.hash, first.hash);
  sources.write("unrelated.comp", "changes nothing");
  EXPECT_EQ(compile("ok.comp").compile_ms, 0);
}

TEST_F(ShaderLibraryTest, WorksWithoutACacheAndWithOneThatCannotBeWritten) {
  ShaderLibrary none({.directories = {sources.path()}, .cache_directory = {}});
  EXPECT_GT(none.compile("ok.comp", {}).compile_ms, 0);
  ShaderLibrary blocked(
      {.directories = {sources.path()}, .cache_directory = sources.write("file", "in the way") / "cache"});
  EXPECT_GT(blocked.compile("ok.comp", {}).compile_ms, 0);
}

TEST_F(ShaderLibraryTest, DefinesReachTheShader) {
  sources.write("common/value.glslh", "uint value() { return VALUE; }\n");
  const Spirv a = compile("ok.comp", {{"VALUE", "5u"}});
  const Spirv b = compile("ok.comp", {{"VALUE", "(2u + 3u)"}});
  const Spirv c = compile("ok.comp", {{"VALUE", "6u"}});
  EXPECT_EQ(a.words, b.words);
  EXPECT_NE(a.words, c.words);
}

TEST_F(ShaderLibraryTest, AnErrorShowsFileLineTextAndDefines) {
  sources.write("bad.comp", "#version 450\nvoid main() {\n  float x = 1.0;\n  float z = x + y;\n}\n");
  EXPECT_EQ(failure("bad.comp", {{"DTYPE", "f32"}, {"TAIL", "1"}}),
            path("bad.comp") +
                ":4: error: 'y' : undeclared identifier\n"
                "    4 |   float z = x + y;\n"
                "defines: DTYPE=f32 TAIL=1");
}

TEST_F(ShaderLibraryTest, AnErrorInAnIncludeShowsTheIncludedFile) {
  sources.write("common/value.glslh", "uint value() {\n  uint v = unknown;\n  return v;\n}\n");
  EXPECT_THAT(failure("ok.comp"), ::testing::StartsWith(path("common/value.glslh") +
                                                        ":2: error: 'unknown' : undeclared identifier\n"
                                                        "    2 |   uint v = unknown;\n"));
}

TEST_F(ShaderLibraryTest, AnErrorInAnEmbeddedShaderShowsItsFileInTheTree) {
  const std::vector<EmbeddedSource> embedded{{"bad.comp", "#version 450\nvoid main() { float a = b; }"}};
  const ShaderSources tree({}, embedded);
  const GlslangProcess process;
  try {
    compile_glsl("bad.comp", tree.closure("bad.comp"), {}, tree.places());
    FAIL() << "nothing was thrown";
  } catch (const CompileError& error) {
    EXPECT_EQ(std::string(error.what()),
              "shaders/bad.comp:2: error: 'b' : undeclared identifier\n"
              "    2 | void main() { float a = b; }\n"
              "defines: none");
  }
}

TEST_F(ShaderLibraryTest, AnErrorWithoutALineShowsTheFile) {
  sources.write("no_main.comp", "#version 450\nlayout(local_size_x = 1) in;\n");
  EXPECT_EQ(failure("no_main.comp"),
            path("no_main.comp") +
                ": error: the shader cannot be linked\n"
                "ERROR: Linking compute stage: Missing entry point: Each stage requires "
                "one entry point\n"
                "defines: none");
  sources.write("no_body.comp", "#version 450\nuint f(uint x);\nvoid main() { f(1u); }\n");
  EXPECT_THAT(failure("no_body.comp"),
              ::testing::StartsWith(path("no_body.comp") + ": error: the shader cannot be linked\n"));
  EXPECT_THAT(failure("no_body.comp"), HasSubstr("No function definition (body) found"));
}

TEST_F(ShaderLibraryTest, AnErrorBehindAnIncludeKeepsItsLine) {
  sources.write("late.comp", "#version 450\n#include \"common/value.glslh\"\nvoid main() {\n  nothing;\n}\n");
  EXPECT_THAT(failure("late.comp"), HasSubstr(path("late.comp") + ":4: error: 'nothing'"));
}

TEST_F(ShaderLibraryTest, AMissingIncludeSaysWhereItWasLookedFor) {
  sources.write("lost.comp", "#version 450\n#include \"common/nope.glslh\"\nvoid main() {}\n");
  EXPECT_EQ(failure("lost.comp"), path("lost.comp") + ":2: error: '#include' : looked in '" +
                                      sources.path().string() +
                                      "' and the embedded sources for header name: common/nope.glslh\n"
                                      "    2 | #include \"common/nope.glslh\"\n"
                                      "defines: none");
}

TEST_F(ShaderLibraryTest, AnIncludeThatIsSwitchedOffMayBeMissing) {
  sources.write("off.comp",
                "#version 450\n#ifdef NEVER\n#include \"common/nope.glslh\"\n#endif\nvoid main() {}\n");
  EXPECT_NO_THROW(compile("off.comp"));
}

TEST_F(ShaderLibraryTest, AnIncludeCycleIsAnError) {
  sources.write("common/value.glslh", "#include \"common/value.glslh\"\n");
  EXPECT_THAT(failure("ok.comp"), HasSubstr("files include each other"));
}

TEST_F(ShaderLibraryTest, AFailureIsNotCached) {
  sources.write("bad.comp", "#version 450\nvoid main() { oops }\n");
  EXPECT_THAT(failure("bad.comp"), HasSubstr("error"));
  EXPECT_THAT(failure("bad.comp"), HasSubstr("error"));
  EXPECT_TRUE(entries().empty());
}

/// A script stands for the compiler: it refuses everything, and keeps count.
TEST_F(ShaderLibraryTest, AVariantThatDoesNotCompileIsCompiledOnce) {
  const std::string count = cache.path().string() + "/count";
  const std::string script = cache.write(
      "refuses.sh", "#!/bin/sh\ncat > /dev/null\necho once >> '" + count + "'\nprintf '7:refused3:bad'\n");
  ShaderLibrary refusing(
      {.directories = {sources.path()}, .cache_directory = {}, .compiler = {"/bin/sh", script}});
  for (const char* variant : {"0", "0", "1", "0", "1"})
    EXPECT_THROW(refusing.compile("ok.comp", {{"VARIANT", variant}}), CompileError);
  EXPECT_EQ(read_file(count), "once\nonce\n");
}

TEST_F(ShaderLibraryTest, AllVariantsAreOfTheFilesThatTheFirstFound) {
  ShaderLibrary one = library();
  one.compile("ok.comp", {});
  sources.write("ok.comp", "#version 450\nvoid main() { oops }\n");
  EXPECT_NO_THROW(one.compile("ok.comp", {{"OTHER", "1"}}));
  EXPECT_THROW(library().compile("ok.comp", {}), CompileError);
}

/// A compiler that ends at once stands for one that was stopped at its limits.
TEST_F(ShaderLibraryTest, WhatStopsTheCompilerStopsItOnceForAllVariants) {
  const std::string count = cache.path().string() + "/count";
  const std::string script =
      cache.write("stops.sh", "#!/bin/sh\ncat > /dev/null\necho once >> '" + count + "'\nkill -KILL $$\n");
  ShaderLibrary stopping(
      {.directories = {sources.path()}, .cache_directory = {}, .compiler = {"/bin/sh", script}});
  for (const char* variant : {"0", "1", "2"}) {
    try {
      stopping.compile("ok.comp", {{"VARIANT", variant}});
      FAIL() << "nothing was thrown";
    } catch (const CompileError& error) {
      EXPECT_THAT(error.what(), HasSubstr(path("ok.comp") + ": compiling it failed: it took more than 20 s"));
    }
  }
  EXPECT_EQ(read_file(count), "once\n");
}

TEST_F(ShaderLibraryTest, LongLinesAreQuotedInPart) {
  sources.write("bad.comp", "#version 450\nvoid main() { nothing" + std::string(1 << 20, '+') + "1; }\n");
  EXPECT_LT(failure("bad.comp").size(), 2000U);
  std::string many = "#version 450\nvoid main() {\n";
  for (int i = 0; i < 1000; ++i) many += "float a" + std::to_string(i) + " = unknown;\n";
  sources.write("many.comp", many + "}\n");
  EXPECT_LT(failure("many.comp").size(), 10'000U);
}

TEST_F(ShaderLibraryTest, AnUnknownShaderIsAnError) {
  try {
    compile("none.comp");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "compiling shader 'none.comp': there is no such file in '" +
                                             sources.path().string() + "' and the embedded sources");
    EXPECT_EQ(error.code(), ExitCode::Usage);
  }
}

TEST_F(ShaderLibraryTest, TheFolderOfAKernelDoesNotMatterForItsSpirv) {
  const Spirv flat = compile("ok.comp");
  fs::create_directory(sources.path() / "folder");
  fs::rename(sources.path() / "ok.comp", sources.path() / "folder/ok.comp");
  const Spirv nested = compile("ok.comp");
  EXPECT_EQ(nested.words, flat.words);
  EXPECT_EQ(nested.compile_ms, 0) << "it is taken from the cache";
}

TEST_F(ShaderLibraryTest, AnOverrideGoesBeforeTheEmbeddedShader) {
  ASSERT_FALSE(ShaderLibrary().names().empty());
  const std::vector<std::string> embedded = ShaderLibrary().names();
  const auto shader = std::find_if(embedded.begin(), embedded.end(),
                                   [](const std::string& name) { return name.ends_with(".comp"); });
  ASSERT_NE(shader, embedded.end());
  sources.write(*shader, valid);
  EXPECT_EQ(compile(*shader).words, compile("ok.comp").words);
  EXPECT_THAT(library().names(), ::testing::IsSupersetOf({*shader, std::string("ok.comp")}));
}

/// Sets an environment variable for a scope.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) {
      before_ = before;
    }
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ~Environment() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(DefaultCacheDirectory, FollowsTheXdgSpecification) {
  const Environment home("HOME", "/home/someone");
  {
    const Environment xdg("XDG_CACHE_HOME", "/caches");
    EXPECT_EQ(default_cache_directory(), fs::path("/caches/assay/spirv"));
  }
  for (const char* const ignored : {static_cast<const char*>(nullptr), "", "relative"}) {
    const Environment xdg("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(default_cache_directory(), fs::path("/home/someone/.cache/assay/spirv"));
  }
  const Environment xdg("XDG_CACHE_HOME", nullptr);
  const Environment nobody("HOME", nullptr);
  EXPECT_TRUE(default_cache_directory().empty());
}

TEST_F(ShaderLibraryTest, KnowsWhichFilesOfItsDirectoriesAShaderIsMadeOf) {
  sources.write("other.comp", "#include \"common/other.glslh\"\n");
  sources.write("common/quantize.glslh", "// in place of the embedded one\n");
  const auto overrides = [&](const std::vector<std::string>& shaders) {
    std::vector<KernelName> kernels;
    for (const std::string& shader : shaders) kernels.emplace_back(shader, ShaderFolders{});
    return library().overrides(kernels);
  };
  const Overrides of_one = overrides({"ok.comp"});
  EXPECT_THAT(of_one.used, ElementsAre("common/value.glslh", "ok.comp"));
  EXPECT_THAT(of_one.unused, ElementsAre("common/quantize.glslh", "other.comp"));
  EXPECT_THAT(overrides({"quantize_affine.comp"}).used, ElementsAre("common/quantize.glslh"))
      << "an embedded shader includes it";
  EXPECT_THAT(overrides({"copy.comp", "no_such.comp"}).used, ElementsAre());
  sources.write("mine/copy.comp", "#include \"./common/value.glslh\"\n");
  EXPECT_THAT(overrides({"copy.comp"}).used, ElementsAre("common/value.glslh", "mine/copy.comp"));
}

}  // namespace

}  // namespace assay::gpu
