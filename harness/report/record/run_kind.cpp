#include "harness/report/record/run_kind.h"

#include "harness/base/text.h"

namespace assay {

bool RunKind::is_plain() const {
  return *this == RunKind{};
}

RunKind kind_of_run(const RunInfo& run) {
  return {.robust_access = run.robust_access, .validation = run.validation, .as_if = run.device.as_if};
}

std::string kind_text(const RunKind& kind) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (kind.robust_access) add("with robust access (--robust-access)");
  if (kind.validation) add("with the validation layer (--validation)");
  if (!kind.as_if.empty()) add("with the limits of " + printable_line(kind.as_if) + " (--as-if)");
  return text.empty() ? "plain" : text;
}

std::string kind_addition(const RunKind& kind) {
  return kind.is_plain() ? "" : ", " + kind_text(kind);
}

bool have_comparable_answers(const RunKind& one, const RunKind& other) {
  return one.robust_access == other.robust_access && one.as_if == other.as_if;
}

}  // namespace assay
