#include "harness/base/once_each.h"
#include "harness/base/source_hash.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/compile.h"
#include "harness/gpu/shaders/compile_process.h"
#include "harness/gpu/shaders/spirv_cache.h"
#include "harness/gpu/spirv/spirv_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>

namespace assay::gpu {
namespace {

std::string cache_key(const std::string& shader, const std::map<std::string, ShaderSource>& sources,
                      const std::vector<Define>& defines) {
  std::string all;
  append_counted(all, compiler_version());
  append_counted(all, shader);
  for (const auto& [name, source] : sources) {
    append_counted(all, name);
    append_counted(all, source.text);
  }
  append_counted(all, "defines");
  for (const Define& define : defines) {
    append_counted(all, define.name);
    append_counted(all, define.value);
  }
  return source_hash(all);
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

  void throw_known_failure(const Variant& variant);
  Spirv make_once(const Variant& variant);
  Spirv make(const std::string& shader, const std::vector<Define>& defines);
  Spirv build(const std::string& shader, const std::map<std::string, ShaderSource>& found,
              const std::vector<Define>& defines, bool is_foreign);

  ShaderSources sources;
  std::vector<std::string> compiler;  ///< ShaderOptions::compiler
  std::optional<SpirvCache> cache;
  std::once_flag glslang_started;
  std::optional<GlslangProcess> glslang;
  OnceEach<Variant> once;             ///< guards `compiled`
  std::map<Variant, Spirv> compiled;  ///< entries are never removed
  // Failures, so that what does not compile is compiled once, and what takes too long in one variant only
  // once.
  std::mutex failing;
  std::map<Variant, CompileError> failed;
  std::map<std::string, CompileError> stopped;  ///< by shader
};

/// Throws what the variant failed with before, if it did.
void ShaderLibrary::State::throw_known_failure(const Variant& variant) {
  const std::scoped_lock lock(failing);
  if (const auto known = stopped.find(variant.first); known != stopped.end()) throw known->second;
  if (const auto known = failed.find(variant); known != failed.end()) throw known->second;
}

Spirv ShaderLibrary::State::make_once(const Variant& variant) {
  throw_known_failure(variant);
  try {
    return make(variant.first, variant.second);
  } catch (const CompilerStopped& error) {
    const std::scoped_lock lock(failing);
    stopped.emplace(variant.first, error);
    throw;
  } catch (const CompileError& error) {
    const std::scoped_lock lock(failing);
    failed.emplace(variant, error);
    throw;
  }
}

Spirv ShaderLibrary::State::make(const std::string& shader, const std::vector<Define>& defines) {
  const std::map<std::string, ShaderSource> found = sources.closure(shader);
  if (found.empty()) {
    throw Error(fmt::format("compiling shader '{}': there is no such file in {}", shader, sources.places()));
  }
  const bool is_foreign =
      std::ranges::any_of(found, [](const auto& entry) { return !entry.second.is_embedded; });
  const std::string key = cache_key(shader, found, defines);
  if (cache) {
    if (auto words = cache->load(key)) {
      std::string hash = source_hash(std::as_bytes(std::span(*words)));
      return {.words = std::move(*words), .hash = std::move(hash), .compile_ms = 0, .is_foreign = is_foreign};
    }
  }
  Spirv spirv = build(shader, found, defines, is_foreign);
  if (cache) {
    cache->store(key, spirv.words);
  }
  return spirv;
}

Spirv ShaderLibrary::State::build(const std::string& shader, const std::map<std::string, ShaderSource>& found,
                                  const std::vector<Define>& defines, bool is_foreign) {
  const auto start = std::chrono::steady_clock::now();
  Spirv spirv{.is_foreign = is_foreign};
  if (!is_foreign || compiler.empty()) {
    std::call_once(glslang_started, [this] { glslang.emplace(); });
    spirv.words = compile_glsl(shader, found, defines, sources.places());
    if (is_foreign) check_module(found.at(shader).display, spirv.words);
  } else {
    spirv.words = compile_in_process(compiler, shader, found, defines, sources.places());
  }
  spirv.hash = source_hash(std::as_bytes(std::span(spirv.words)));
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
      variant, find, [&] { return state_->make_once(variant); },
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
      if (!source.is_embedded) used.insert(source.path);
    }
  }
  Overrides found{.used = {used.begin(), used.end()}, .unused = {}};
  std::set_difference(theirs.begin(), theirs.end(), used.begin(), used.end(),
                      std::back_inserter(found.unused));
  return found;
}

}  // namespace assay::gpu
