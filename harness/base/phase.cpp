#include "harness/base/phase.h"

#include "harness/base/names.h"

namespace assay {
namespace {

constexpr Names<8> names{"start", "ceilings", "host", "reference", "compile", "dispatch", "timing", "ahead"};
constexpr Names<8> stories{
    "while it loaded the cases and opened the device",
    "while it measured the device's ceilings",
    "in work on the CPU",
    "while the reference computed on the CPU",
    "while shaders and pipelines were compiled",
    "while the device ran the program",
    "while the row was timed",
    "while it waited for rows that it prepared ahead",
};

}  // namespace

std::string_view name_of(Phase phase) {
  return name_in(names, phase);
}

std::optional<Phase> parse_phase(std::string_view name) {
  return value_in<Phase>(names, name);
}

std::string_view story_of(Phase phase) {
  return name_in(stories, phase);
}

}  // namespace assay
