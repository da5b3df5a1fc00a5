#include "harness/base/text.h"
#include "harness/gpu/shaders/compile.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <sstream>

namespace assay::gpu {
namespace {

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
