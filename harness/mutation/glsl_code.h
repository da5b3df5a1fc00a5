#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace assay::mutation {

inline constexpr std::size_t no_token = std::numeric_limits<std::size_t>::max();

/// A word, number or symbol of GLSL.
struct Token {
  enum class Kind : std::uint8_t { Word, Number, Symbol };

  Kind kind = Kind::Symbol;
  std::string_view text;
  std::size_t offset = 0;  ///< of its first byte in the source
  int line = 0;            ///< from 1
  int column = 0;          ///< in bytes, from 1
  /// The token of the other bracket, for a bracket that has one.
  std::size_t partner = no_token;
  /// It belongs to a declaration with `layout`, a struct or a directive for SPIR-V (spirv_execution_mode):
  /// what it says must agree with the host.
  bool is_layout = false;
  int depth = 0;   ///< of curly brackets around it
  int region = 0;  ///< tokens of a function, with its parameters, have the same number
};

/// The tokens of a GLSL source, without comments and preprocessor directives. The source must outlive it.
class GlslCode {
 public:
  explicit GlslCode(std::string_view source);

  std::string_view source() const { return source_; }
  std::size_t size() const { return tokens_.size(); }
  /// A token; past either end, one without text.
  const Token& at(std::size_t index) const { return index < tokens_.size() ? tokens_[index] : end_; }
  std::string_view text(std::size_t index) const { return at(index).text; }
  bool is_word(std::size_t index) const;
  bool is_number(std::size_t index) const;

  /// Whether the symbol has an operand on its left, unlike the minus of "-1".
  bool is_binary(std::size_t index) const;
  /// Whether the word is the name in a declaration such as "uint size".
  bool is_declared_here(std::size_t index) const;
  /// The token after an operand that begins at `first` and holds only operators that bind more tightly than
  /// `precedence` (see precedence_of).
  std::size_t end_of_operand(std::size_t first, int precedence) const;
  /// The first token of the chain of members, indices and calls that ends with this word:
  /// "a.b[i].c" for its "c".
  std::size_t start_of_chain(std::size_t word) const;
  /// The first token from `first` up to `end` outside of nested brackets that has this text; no_token: none.
  std::size_t find(std::string_view text, std::size_t first, std::size_t end) const;
  /// The source from one token to the one before `end`.
  std::string_view between(std::size_t first, std::size_t end) const;
  /// The whole line, without its line feed.
  std::string_view line(int number) const;

 private:
  void split();
  void match_brackets();
  void mark_layouts();
  void count_regions();
  void mark(std::size_t first);

  std::string_view source_;
  std::vector<Token> tokens_;
  std::vector<std::string_view> lines_;
  Token end_;
};

/// How tightly a binary operator binds, from 1 ("||") to 10 ("*"); 0: it is none.
int precedence_of(std::string_view symbol);

/// Whether the symbol stores into its left operand: "=", "+=", ...
bool is_assignment(std::string_view symbol);

/// Whether the word names a scalar or vector type.
bool is_type(std::string_view word);

}  // namespace assay::mutation
