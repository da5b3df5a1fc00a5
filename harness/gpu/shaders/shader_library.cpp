#include "harness/gpu/shaders/shader_library.h"

#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/base/parallel.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/compile.h"
#include "harness/gpu/shaders/compile_process.h"
#include "harness/gpu/spirv/spirv_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <iterator>
#include <ostream>
#include <span>

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 8> magic{'A', 'S', 'S', 'A', 'Y', 'S', 'P', 'V'};
constexpr std::uint32_t format = 2;
/// Far more than the SPIR-V of any shader.
constexpr std::uintmax_t most_file_bytes = std::uintmax_t{256} << 20;

struct Header {
  std::array<char, 8> magic{};
  std::uint32_t format = 0;
  std::uint32_t words = 0;
  std::array<char, source_hash_digits> key{};
  std::array<char, source_hash_digits> hash{};
};
static_assert(sizeof(Header) == 144, "the header is written as it lies in memory");

std::string hash_of_words(const std::vector<std::uint32_t>& words) {
  return source_hash(std::as_bytes(std::span(words)));
}

Header header_for(const std::string& key, const std::vector<std::uint32_t>& words) {
  Header header{.magic = magic, .format = format, .words = static_cast<std::uint32_t>(words.size())};
  std::memcpy(header.key.data(), key.data(), source_hash_digits);
  std::memcpy(header.hash.data(), hash_of_words(words).data(), source_hash_digits);
  return header;
}

/// A shader and all that it includes, by name.
struct Sources {
  explicit Sources(std::map<std::string, ShaderSource> found) : files(std::move(found)) {
    std::string all;
    for (const auto& [name, source] : files) {
      append_counted(all, name);
      append_counted(all, source.text);
    }
    hash = source_hash(all);
  }

  bool is_foreign() const {
    return std::ranges::any_of(files, [](const auto& entry) { return !entry.second.is_embedded; });
  }

  std::map<std::string, ShaderSource> files;
  std::string hash;  ///< of names and texts
};

std::string cache_key(const std::string& shader, const Sources& sources, const std::vector<Define>& defines) {
  std::string all;
  append_counted(all, compiler_version());
  append_counted(all, shader);
  append_counted(all, sources.hash);
  for (const Define& define : defines) {
    append_counted(all, define.name);
    append_counted(all, define.value);
  }
  return source_hash(all);
}

}  // namespace

fs::path SpirvCache::file_of(const std::string& key) const {
  return directory_ / (key + ".spv");
}

std::optional<std::vector<std::uint32_t>> SpirvCache::load(const std::string& key) const {
  const std::optional<std::string> bytes = whole_regular_file(file_of(key), most_file_bytes);
  if (!bytes || bytes->size() <= sizeof(Header)) {
    return std::nullopt;
  }
  const std::string_view content = std::string_view(*bytes).substr(sizeof(Header));
  if (content.size() % sizeof(std::uint32_t) != 0) {
    return std::nullopt;
  }
  std::vector<std::uint32_t> words(content.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), content.data(), content.size());
  const Header expected = header_for(key, words);
  if (std::memcmp(bytes->data(), &expected, sizeof expected) != 0) {
    return std::nullopt;
  }
  return words;
}

void SpirvCache::store(const std::string& key, const std::vector<std::uint32_t>& words) const try {
  fs::create_directories(directory_);
  const Header header = header_for(key, words);
  replace_file(file_of(key), [&](std::ostream& stream) {
    stream.write(reinterpret_cast<const char*>(&header), sizeof header);
    stream.write(reinterpret_cast<const char*>(words.data()),
                 static_cast<std::streamsize>(words.size() * sizeof(std::uint32_t)));
  });
} catch (const std::exception&) {
  // Ignored: the shader is then compiled again.
}

std::filesystem::path default_cache_directory() {
  return cache_directory("spirv");
}

std::filesystem::path default_pipeline_directory() {
  return cache_directory("pipelines");
}

struct ShaderLibrary::State {
  struct Variant {
    std::string shader;
    std::vector<Define> defines;
    ShaderFolders folders;
    friend auto operator<=>(const Variant&, const Variant&) = default;
  };
  explicit State(ShaderOptions options)
      : sources(std::move(options.directories), embedded_shaders()), compiler(std::move(options.compiler)) {
    if (!options.cache_directory.empty()) {
      cache.emplace(std::move(options.cache_directory));
    }
  }

  const Sources& sources_of(const std::string& shader, const ShaderFolders& folders);
  void throw_known_failure(const Variant& variant);
  Spirv make_once(const Variant& variant);
  Spirv make(const Variant& variant);
  Spirv build(const Variant& variant, const Sources& found);
  std::vector<std::uint32_t> words_of(const Variant& variant, const Sources& found);

  ShaderSources sources;
  OnceEach<std::pair<std::string, ShaderFolders>> once_read;      ///< guards `read`
  std::map<std::pair<std::string, ShaderFolders>, Sources> read;  ///< entries are never removed
  std::vector<std::string> compiler;                              ///< ShaderOptions::compiler
  std::optional<SpirvCache> cache;
  std::once_flag glslang_started;
  std::optional<GlslangProcess> glslang;
  OnceEach<Variant> once;             ///< guards `compiled`
  std::map<Variant, Spirv> compiled;  ///< entries are never removed
  // Failures, so that what does not compile is compiled once, and what takes too long in one variant only
  // once.
  std::mutex failing;
  std::map<Variant, CompileError> failed;
  std::map<std::pair<std::string, ShaderFolders>, CompileError> stopped;  ///< by shader
};

/// Read once: variants differ in defines alone.
const Sources& ShaderLibrary::State::sources_of(const std::string& shader, const ShaderFolders& folders) {
  const std::pair<std::string, ShaderFolders> key(shader, folders);
  const auto find = [&]() -> const Sources* {
    const auto found = read.find(key);
    return found == read.end() ? nullptr : &found->second;
  };
  return *once_read.get(
      key, find, [&] { return Sources(sources.closure(shader, folders)); },
      [&](Sources made) { read.emplace(key, std::move(made)); });
}

/// Throws what the variant failed with before, if it did.
void ShaderLibrary::State::throw_known_failure(const Variant& variant) {
  const std::scoped_lock lock(failing);
  if (const auto known = stopped.find({variant.shader, variant.folders}); known != stopped.end())
    throw known->second;
  if (const auto known = failed.find(variant); known != failed.end()) throw known->second;
}

Spirv ShaderLibrary::State::make_once(const Variant& variant) {
  throw_known_failure(variant);
  try {
    return make(variant);
  } catch (const CompilerStopped& error) {
    const std::scoped_lock lock(failing);
    stopped.emplace(std::pair(variant.shader, variant.folders), error);
    throw;
  } catch (const CompileError& error) {
    const std::scoped_lock lock(failing);
    failed.emplace(variant, error);
    throw;
  }
}

Spirv ShaderLibrary::State::make(const Variant& variant) {
  const Sources& found = sources_of(variant.shader, variant.folders);
  if (found.files.empty()) {
    throw Error(fmt::format("compiling shader '{}': there is no such file in {}", variant.shader,
                            sources.places(variant.folders)));
  }
  const std::string key = cache_key(variant.shader, found, variant.defines);
  if (cache) {
    if (auto words = cache->load(key)) {
      std::string hash = source_hash(std::as_bytes(std::span(*words)));
      return {.words = std::move(*words),
              .hash = std::move(hash),
              .compile_ms = 0,
              .is_foreign = found.is_foreign()};
    }
  }
  Spirv spirv = build(variant, found);
  if (cache) {
    cache->store(key, spirv.words);
  }
  return spirv;
}

std::vector<std::uint32_t> ShaderLibrary::State::words_of(const Variant& variant, const Sources& found) {
  const std::string places = sources.places(variant.folders);
  if (found.is_foreign() && !compiler.empty())
    return compile_in_process(compiler, variant.shader, found.files, variant.defines, places);
  const ShaderSource& source = found.files.at(variant.shader);
  if (source.is_module()) return checked_module(source);
  std::call_once(glslang_started, [this] { glslang.emplace(); });
  std::vector<std::uint32_t> words = compile_glsl(variant.shader, found.files, variant.defines, places);
  if (found.is_foreign()) check_module(source.display, words);
  return finished_module(source.display, std::move(words), variant.defines);
}

Spirv ShaderLibrary::State::build(const Variant& variant, const Sources& found) {
  const auto start = std::chrono::steady_clock::now();
  Spirv spirv{.words = words_of(variant, found), .is_foreign = found.is_foreign()};
  spirv.hash = source_hash(std::as_bytes(std::span(spirv.words)));
  spirv.compile_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return spirv;
}

ShaderLibrary::ShaderLibrary(ShaderOptions options) : state_(std::make_unique<State>(std::move(options))) {}
ShaderLibrary::~ShaderLibrary() = default;

KernelName kernel_of(const Dispatch& dispatch) {
  return {dispatch.shader, dispatch.external ? dispatch.external->folders : ShaderFolders{}};
}

const Spirv& ShaderLibrary::compile(const Dispatch& dispatch) {
  const auto [shader, folders] = kernel_of(dispatch);
  return compile(shader, dispatch.defines, folders);
}

const Spirv& ShaderLibrary::compile(const std::string& shader, const std::vector<Define>& defines,
                                    const std::vector<std::filesystem::path>& folders) {
  const State::Variant variant{shader, defines, folders};
  const auto find = [&]() -> const Spirv* {
    const auto found = state_->compiled.find(variant);
    return found == state_->compiled.end() ? nullptr : &found->second;
  };
  return *state_->once.get(
      variant, find, [&] { return state_->make_once(variant); },
      [&](Spirv made) { state_->compiled.emplace(variant, std::move(made)); });
}

std::vector<std::string> ShaderLibrary::names() const {
  const std::set<std::string> names = state_->sources.names();
  return {names.begin(), names.end()};
}

Overrides ShaderLibrary::overrides(std::span<const KernelName> kernels) const {
  const std::set<std::string> theirs = state_->sources.names_in_directories();
  std::set<std::string> used;
  for (const auto& [shader, folders] : kernels) {
    for (const auto& [name, source] : state_->sources_of(shader, folders).files) {
      if (source.is_override) used.insert(source.path);
    }
  }
  Overrides found{.used = {used.begin(), used.end()}, .unused = {}};
  std::set_difference(theirs.begin(), theirs.end(), used.begin(), used.end(),
                      std::back_inserter(found.unused));
  return found;
}

}  // namespace assay::gpu
