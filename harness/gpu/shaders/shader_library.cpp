#include "harness/base/hash.h"
#include "harness/base/once_each.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/compile.h"
#include "harness/gpu/shaders/compile_process.h"
#include "harness/gpu/shaders/spirv_cache.h"
#include "harness/gpu/shaders/spirv_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>

namespace assay::gpu {
namespace {

/// Appends a text so that different lists of texts never give the same bytes.
void append(std::string& all, std::string_view text) {
  all += fmt::format("{}:", text.size());
  all += text;
}

std::string cache_key(const std::string& shader, const std::map<std::string, ShaderSource>& sources,
                      const std::vector<Define>& defines) {
  std::string all;
  append(all, compiler_version());
  append(all, shader);
  for (const auto& [name, source] : sources) {
    append(all, name);
    append(all, source.text);
  }
  append(all, "defines");
  for (const Define& define : defines) {
    append(all, define.name);
    append(all, define.value);
  }
  return hash_hex(all);
}

}  // namespace

std::filesystem::path default_cache_directory() {
  namespace fs = std::filesystem;
  const char* const xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && fs::path(xdg).is_absolute()) {  // the XDG specification ignores relative ones
    return fs::path(xdg) / "assay" / "spirv";
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    return {};
  }
  return fs::path(home) / ".cache" / "assay" / "spirv";
}

std::filesystem::path default_pipeline_directory() {
  const std::filesystem::path shaders = default_cache_directory();
  return shaders.empty() ? shaders : shaders.parent_path() / "pipelines";
}

struct ShaderLibrary::State {
  using Variant = std::pair<std::string, std::vector<Define>>;

  explicit State(ShaderOptions options)
      : sources(std::move(options.directories), embedded_shaders()), compiler(std::move(options.compiler)) {
    if (!options.cache_directory.empty()) {
      cache.emplace(std::move(options.cache_directory));
    }
  }

  Spirv make(const std::string& shader, const std::vector<Define>& defines);
  Spirv build(const std::string& shader, const std::map<std::string, ShaderSource>& found,
              const std::vector<Define>& defines);

  ShaderSources sources;
  std::vector<std::string> compiler;  ///< ShaderOptions::compiler
  std::optional<SpirvCache> cache;
  std::once_flag glslang_started;
  std::optional<GlslangProcess> glslang;
  OnceEach<Variant> once;             ///< guards `compiled`
  std::map<Variant, Spirv> compiled;  ///< entries are never removed
};

Spirv ShaderLibrary::State::make(const std::string& shader, const std::vector<Define>& defines) {
  const std::map<std::string, ShaderSource> found = sources.closure(shader);
  if (found.empty()) {
    throw Error(fmt::format("compiling shader '{}': there is no such file in {}", shader, sources.places()));
  }
  const std::string key = cache_key(shader, found, defines);
  if (cache) {
    if (auto words = cache->load(key)) {
      std::string hash = hash_hex(std::as_bytes(std::span(*words)));
      return {.words = std::move(*words), .hash = std::move(hash), .compile_ms = 0};
    }
  }
  Spirv spirv = build(shader, found, defines);
  if (cache) {
    cache->store(key, spirv.words);
  }
  return spirv;
}

Spirv ShaderLibrary::State::build(const std::string& shader, const std::map<std::string, ShaderSource>& found,
                                  const std::vector<Define>& defines) {
  const auto start = std::chrono::steady_clock::now();
  const bool is_ours = std::ranges::all_of(found, [](const auto& entry) { return entry.second.is_embedded; });
  Spirv spirv;
  if (is_ours || compiler.empty()) {
    std::call_once(glslang_started, [this] { glslang.emplace(); });
    spirv.words = compile_glsl(shader, found, defines, sources.places());
    if (!is_ours) check_module(found.at(shader).display, spirv.words);
  } else {
    spirv.words = compile_in_process(compiler, shader, found, defines, sources.places());
  }
  spirv.hash = hash_hex(std::as_bytes(std::span(spirv.words)));
  spirv.compile_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return spirv;
}

ShaderLibrary::ShaderLibrary(ShaderOptions options) : state_(std::make_unique<State>(std::move(options))) {}
ShaderLibrary::~ShaderLibrary() = default;

const Spirv& ShaderLibrary::compile(const std::string& shader, const std::vector<Define>& defines) {
  const State::Variant variant{shader, defines};
  const auto find = [&]() -> const Spirv* {
    const auto found = state_->compiled.find(variant);
    return found == state_->compiled.end() ? nullptr : &found->second;
  };
  return *state_->once.get(
      variant, find, [&] { return state_->make(shader, defines); },
      [&](Spirv made) { state_->compiled.emplace(variant, std::move(made)); });
}

std::vector<std::string> ShaderLibrary::names() const {
  const std::set<std::string> names = state_->sources.names();
  return {names.begin(), names.end()};
}

Overrides ShaderLibrary::overrides(std::span<const std::string> shaders) const {
  const std::set<std::string> theirs = state_->sources.names_in_directories();
  std::set<std::string> used;
  for (const std::string& shader : shaders) {
    for (const auto& [name, source] : state_->sources.closure(shader)) {
      if (theirs.contains(name)) {
        used.insert(name);
      }
    }
  }
  Overrides found{.used = {used.begin(), used.end()}, .unused = {}};
  std::set_difference(theirs.begin(), theirs.end(), used.begin(), used.end(),
                      std::back_inserter(found.unused));
  return found;
}

}  // namespace assay::gpu
