#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace assay {

/// A regular expression in RE2's syntax (Perl's without back references and look-around). Searching takes
/// time linear in the text and little stack and memory, whatever the expression.
class Pattern {
 public:
  enum class Case : bool { Matters, Ignored };

  /// Throws Error with what is wrong with the expression; the caller must say which expression it is.
  explicit Pattern(const std::string& expression, Case letters = Case::Matters);

  /// Returns whether some part of the text matches.
  bool is_in(std::string_view text) const;

 private:
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace assay
