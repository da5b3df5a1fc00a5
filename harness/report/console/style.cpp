#include "harness/report/console/style.h"

namespace assay {
namespace {

std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::Plain:
      return "";
    case Ink::Bold:
      return "1";
    case Ink::Dim:
      return "2";
    case Ink::Red:
      return "1;31";
    case Ink::Green:
      return "32";
    case Ink::Yellow:
      return "33";
    case Ink::Magenta:
      return "1;35";
  }
  return "";
}

}  // namespace

std::string painted(std::string_view text, Ink ink, bool color) {
  if (!color || ink == Ink::Plain || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code_of(ink)) + "m" + std::string(text) + "\x1b[0m";
}

Ink ink_of(Status status) {
  if (class_of(status) == StatusClass::Infrastructure) return Ink::Magenta;
  if (class_of(status) == StatusClass::Failing) return Ink::Red;
  return status == Status::Pass ? Ink::Green : Ink::Yellow;
}

}  // namespace assay
