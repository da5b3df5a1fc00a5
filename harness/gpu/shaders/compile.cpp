#include "harness/gpu/shaders/compile.h"

#include "harness/base/text.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/spirv/khr_matrices.h"

#include <fmt/format.h>
#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>
#include <glslang/SPIRV/disassemble.h>

#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>

#ifdef __linux__
#include <sys/mman.h>

// Set by the linker: where the executable's variables that begin as zeros lie.
extern char begin_of_zeros __asm__("__bss_start");
extern char end_of_zeros __asm__("_end");
#endif

namespace assay::gpu {
namespace {

#ifdef __linux__
/// glslang fills 7 MB of static tables before main(). In pages of 4 KiB that costs more than all else that a
/// process does until then, above all on virtual machines. Runs before all constructors without a priority.
/// A system without large pages refuses, and all works as before.
[[gnu::constructor(101)]] void use_large_pages_for_static_tables() {
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(&begin_of_zeros);
  const auto end = reinterpret_cast<std::uintptr_t>(&end_of_zeros) / page * page;
  const std::uintptr_t skipped = (page - begin % page) % page;
  if (begin + skipped < end) ::madvise(&begin_of_zeros + skipped, end - begin - skipped, MADV_HUGEPAGE);
}
#endif

/// Increased when the options below change, so that older results are not taken from a cache.
constexpr int options_version = 2;  // raised, too, when with_khr_matrices() writes something else
constexpr std::size_t deepest_include = 64;
constexpr int glsl_version = 450;  ///< for sources without #version

/// Resolves #include among sources in memory. Names are relative to the shader root, wherever the including
/// file is.
class Includer final : public glslang::TShader::Includer {
 public:
  Includer(const std::map<std::string, ShaderSource>& sources, const std::string& places)
      : sources_(sources), places_(places) {}

  IncludeResult* includeLocal(const char* name, const char* /*includer*/, std::size_t depth) override {
    return find(name, depth);
  }

  /// glslang calls this when includeLocal() found nothing, and reports this function's error.
  IncludeResult* includeSystem(const char* name, const char* /*includer*/, std::size_t depth) override {
    return find(name, depth);
  }

  void releaseInclude(IncludeResult*) override {}  // all are freed with the includer

 private:
  IncludeResult* find(const char* name, std::size_t depth) {
    if (depth > deepest_include) {
      return fail(fmt::format("files include each other, stopped {} levels deep", depth));
    }
    if (!stays_inside(name)) {
      return fail("an include names a file below the shader folder");
    }
    const auto found = sources_.find(name);
    if (found == sources_.end()) {
      return fail(fmt::format("looked in {}", places_));
    }
    const std::string& text = found->second.text;
    return keep(std::make_unique<IncludeResult>(name, text.data(), text.size(), nullptr));
  }

  /// An empty name tells glslang that the text is an error; it appends " for header name: x".
  IncludeResult* fail(std::string why) {
    errors_.push_back(std::make_unique<std::string>(std::move(why)));
    const std::string& text = *errors_.back();
    return keep(std::make_unique<IncludeResult>("", text.data(), text.size(), nullptr));
  }

  IncludeResult* keep(std::unique_ptr<IncludeResult> result) {
    results_.push_back(std::move(result));
    return results_.back().get();
  }

  const std::map<std::string, ShaderSource>& sources_;
  const std::string& places_;
  std::vector<std::unique_ptr<std::string>> errors_;
  std::vector<std::unique_ptr<IncludeResult>> results_;
};

/// glslang reads the preamble before the source and does not count its lines.
std::string preamble_of(const std::vector<Define>& defines) {
  std::string text = "#extension GL_GOOGLE_include_directive : require\n";
  for (const Define& define : defines) {
    text += fmt::format("#define {} {}\n", define.name, define.value);
  }
  return text;
}

/// The SPIR-V of a parsed shader. Errors of linking have no line: they begin with the file alone.
std::vector<std::uint32_t> generate(glslang::TShader& shader, EShMessages messages,
                                    const std::string& display,
                                    const std::map<std::string, ShaderSource>& sources,
                                    const std::vector<Define>& defines) {
  glslang::TProgram program;
  program.addShader(&shader);
  if (!program.link(messages)) {
    throw CompileError(display + ": error: the shader cannot be linked\n" +
                       compile_story(program.getInfoLog(), sources, defines));
  }
  glslang::SpvOptions options;
  options.disableOptimizer = true;  // drivers optimize; they get the code as written
  spv::SpvBuildLogger logger;
  std::vector<std::uint32_t> words;
  glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words, &logger, &options);
  const std::string log = logger.getAllMessages();
  if (words.empty() || log.find("error") != std::string::npos) {
    throw CompileError(display + ": error: no SPIR-V can be made from the shader\n" +
                       compile_story(log, sources, defines));
  }
  return words;
}

// Lines of generated sources may have megabytes, and glslang's messages quote what they like.
constexpr std::size_t most_of_a_line = 200;
constexpr std::size_t most_of_a_message = 500;
constexpr std::size_t most_of_a_story = 8000;

/// One line of glslang's log: "ERROR: common/x.glslh:12: 'y' : undeclared identifier".
struct Complaint {
  std::string severity;  ///< "error" or "warning"
  std::string file;
  int line = 0;
  std::string text;
};

std::optional<Complaint> parse_complaint(std::string_view line) {
  Complaint complaint;
  for (const auto& [prefix, severity] :
       {std::pair<std::string_view, std::string_view>{"ERROR: ", "error"}, {"WARNING: ", "warning"}}) {
    if (line.starts_with(prefix)) {
      line.remove_prefix(prefix.size());
      complaint.severity = severity;
    }
  }
  const std::size_t file_end = line.find(':');
  const std::size_t line_end = file_end == std::string_view::npos ? file_end : line.find(':', file_end + 1);
  if (complaint.severity.empty() || line_end == std::string_view::npos) {
    return std::nullopt;
  }
  const char* const last = line.data() + line_end;
  const auto [end, error] = std::from_chars(line.data() + file_end + 1, last, complaint.line);
  if (error != std::errc{} || end != last) {
    return std::nullopt;
  }
  complaint.file = line.substr(0, file_end);
  complaint.text = line.substr(std::min(line_end + 2, line.size()));
  return complaint;
}

std::optional<std::string> line_of(const std::string& text, int wanted) {
  std::istringstream stream(text);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (number == wanted) {
      return line;
    }
  }
  return std::nullopt;
}

std::string tell(const Complaint& complaint, const std::map<std::string, ShaderSource>& sources) {
  const auto source = sources.find(complaint.file);
  const std::string file = source == sources.end() ? complaint.file : source->second.display;
  std::string text = fmt::format("{}:{}: {}: {}\n", file, complaint.line, complaint.severity,
                                 shortened(complaint.text, most_of_a_message));
  if (source != sources.end()) {
    if (const auto line = line_of(source->second.text, complaint.line)) {
      text += fmt::format("{:5} | {}\n", complaint.line, shortened(*line, most_of_a_line));
    }
  }
  return text;
}

/// Whether the line only says that there are errors above; glslang ends its log with such lines.
bool is_summary(std::string_view line) {
  return line.find("compilation errors.  No code generated.") != std::string_view::npos ||
         line.ends_with("'' : compilation terminated");
}

}  // namespace

GlslangProcess::GlslangProcess() {
  glslang::InitializeProcess();
}

GlslangProcess::~GlslangProcess() {
  glslang::FinalizeProcess();
}

std::string compiler_version() {
  const glslang::Version version = glslang::GetVersion();
  return fmt::format("glslang {}.{}.{}{} generator {} options {}", version.major, version.minor,
                     version.patch, version.flavor, glslang::GetSpirvGeneratorVersion(), options_version);
}

std::vector<std::uint32_t> compile_glsl(const std::string& name,
                                        const std::map<std::string, ShaderSource>& sources,
                                        const std::vector<Define>& defines, const std::string& places) {
  constexpr auto messages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);
  const std::string& source = sources.at(name).text;
  const char* text = source.data();
  const int length = static_cast<int>(source.size());
  const char* string_name = name.c_str();
  const std::string preamble = preamble_of(defines);

  glslang::TShader shader(EShLangCompute);
  shader.setStringsWithLengthsAndNames(&text, &length, &string_name, 1);
  shader.setPreamble(preamble.c_str());
  shader.setEnvInput(glslang::EShSourceGlsl, EShLangCompute, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_1);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_3);
  Includer includer(sources, places);
  if (!shader.parse(GetDefaultResources(), glsl_version, false, messages, includer)) {
    throw CompileError(compile_story(shader.getInfoLog(), sources, defines));
  }
  return generate(shader, messages, sources.at(name).display, sources, defines);
}

std::string disassemble(std::span<const std::uint32_t> words) {
  std::ostringstream text;
  spv::Disassemble(text, {words.begin(), words.end()});
  return text.str();
}

std::vector<std::uint32_t> finished_module(const std::string& display, std::vector<std::uint32_t> words,
                                           const std::vector<Define>& defines) {
  if (!ask_for_khr_matrices(defines)) return words;
  try {
    return with_khr_matrices(words);
  } catch (const Error& error) {
    throw CompileError(
        fmt::format("{}: {}. The define {} asks for KHR's matrices; `tune: {{matrices: 1}}` of a case of "
                    "assay's own ops takes NV's",
                    display, error.what(), khr_matrices_define));
  }
}

std::string compile_story(const std::string& log, const std::map<std::string, ShaderSource>& sources,
                          const std::vector<Define>& defines) {
  std::string story;
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || is_summary(line)) {
      continue;
    }
    const std::optional<Complaint> complaint = parse_complaint(line);
    story += complaint ? tell(*complaint, sources) : shortened(line, most_of_a_message) + '\n';
    if (story.size() > most_of_a_story) {
      story += "more errors are not shown\n";
      break;
    }
  }
  story += "defines:";
  for (const Define& define : defines) {
    story += fmt::format(" {}={}", define.name, define.value);
  }
  return story + (defines.empty() ? " none" : "");
}

}  // namespace assay::gpu
