#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace assay {

/// A regular expression, of RE2's syntax (Perl's without back references and look-around). Whatever the
/// expression, searching takes time linear in the text, little stack and little memory.
class Pattern {
 public:
  enum class Case : bool { Matters, Ignored };

  /// Throws Error that says what is wrong with the expression, not which one it is.
  explicit Pattern(const std::string& expression, Case letters = Case::Matters);

  /// Whether some part of the text matches.
  bool is_in(std::string_view text) const;

 private:
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace assay
