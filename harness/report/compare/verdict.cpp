#include "harness/report/compare/verdict.h"

#include "harness/base/names.h"

#include <cctype>
#include <string>

namespace assay {
namespace {

constexpr Names<verdict_count> verdict_names{"FASTER", "SLOWER", "SAME",   "AMBIGUOUS", "ENVIRONMENT",
                                             "NEW",    "GONE",   "BROKEN", "DRIFTED",   "SUSPECT"};

}  // namespace

std::string_view name_of(Verdict verdict) {
  return name_in(verdict_names, verdict);
}

std::optional<Verdict> parse_verdict(std::string_view name) {
  std::string upper;
  for (const char c : name) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return value_in<Verdict>(verdict_names, upper);
}

Ink ink_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Slower:
    case Verdict::Gone:
    case Verdict::Broken:
      return Ink::Red;
    case Verdict::Faster:
    case Verdict::New:
      return Ink::Green;
    case Verdict::Same:
      return Ink::Plain;
    case Verdict::Ambiguous:
    case Verdict::Environment:
      return Ink::Yellow;
    case Verdict::Drifted:
    case Verdict::Suspect:
      return Ink::Magenta;
  }
  return Ink::Plain;
}

}  // namespace assay
