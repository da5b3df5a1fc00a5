#include "harness/mutation/glsl_code.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace assay::mutation {
namespace {

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// The longest first.
constexpr std::array<std::string_view, 21> long_symbols{
    "<<=", ">>=", "<=", ">=", "==", "!=", "&&", "||", "^^", "<<", ">>",
    "++",  "--",  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="};

std::size_t length_of_symbol(std::string_view rest) {
  for (const std::string_view symbol : long_symbols) {
    if (rest.starts_with(symbol)) return symbol.size();
  }
  return 1;
}

/// Numbers such as "0x7fu", "1.5e-3" and ".5".
std::size_t length_of_number(std::string_view rest) {
  std::size_t length = 1;
  const bool is_hex = rest.starts_with("0x") || rest.starts_with("0X");
  for (; length < rest.size(); ++length) {
    const char c = rest[length];
    const char before = rest[length - 1];
    const bool is_exponent_sign = (c == '-' || c == '+') && (before == 'e' || before == 'E') && !is_hex;
    if (!is_word_character(c) && c != '.' && !is_exponent_sign) break;
  }
  return length;
}

std::size_t length_of_word(std::string_view rest) {
  const auto end = std::ranges::find_if_not(rest, is_word_character);
  return static_cast<std::size_t>(end - rest.begin());
}

/// Passes over what is no code, and counts lines.
class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) {}

  /// The offset of the next token; the size of the source: there is none.
  std::size_t next() {
    while (at_ < source_.size() && skip_one()) {
    }
    return at_;
  }
  void take(std::size_t bytes) {
    at_ += bytes;
    only_blanks_ = false;
  }
  std::string_view rest() const { return source_.substr(at_); }
  int line() const { return line_; }
  int column() const { return static_cast<int>(at_ - line_start_) + 1; }

 private:
  bool skip_one() {
    const std::string_view here = rest();
    if (here.front() == '\n') {
      line_feed();
    } else if (std::isspace(static_cast<unsigned char>(here.front())) != 0) {
      only_blanks_ = only_blanks_ || is_line_end();
      ++at_;
    } else if (here.starts_with("/*")) {
      skip_comment();
    } else if (here.starts_with("//") || (here.front() == '#' && only_blanks_)) {
      skip_line();
    } else {
      return false;
    }
    return true;
  }

  void line_feed() {
    ++at_;
    ++line_;
    line_start_ = at_;
    only_blanks_ = true;
  }

  /// Whether a line ends here. For the compiler one also ends at a carriage return alone, which is not
  /// counted.
  bool is_line_end() const {
    return source_[at_] == '\n' || (source_[at_] == '\r' && !rest().starts_with("\r\n"));
  }

  /// Up to a line end that no backslash continues.
  void skip_line() {
    while (at_ < source_.size() && !is_line_end()) {
      const bool may_continue = source_[at_] == '\\';
      ++at_;
      if (may_continue) pass_line_end();
    }
  }

  void pass_line_end() {
    if (rest().starts_with('\r')) ++at_;
    if (rest().starts_with('\n')) line_feed();
  }

  void skip_comment() {
    const std::size_t end = std::min(source_.find("*/", at_ + 2), source_.size() - 2) + 2;
    while (at_ < end) {
      if (source_[at_] == '\n') {
        line_feed();
      } else {
        ++at_;
      }
    }
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  bool only_blanks_ = true;  ///< nothing but blanks on this line so far
};

constexpr std::array brackets{std::pair{"(", ")"}, std::pair{"[", "]"}, std::pair{"{", "}"}};

bool opens(std::string_view symbol) {
  return std::ranges::any_of(brackets, [&](const auto& pair) { return symbol == pair.first; });
}

bool closes(std::string_view symbol, std::string_view opening) {
  return std::ranges::any_of(
      brackets, [&](const auto& pair) { return opening == pair.first && symbol == pair.second; });
}

}  // namespace

int precedence_of(std::string_view symbol) {
  constexpr std::array<std::pair<std::string_view, int>, 19> all{{{"*", 10},
                                                                  {"/", 10},
                                                                  {"%", 10},
                                                                  {"+", 9},
                                                                  {"-", 9},
                                                                  {"<<", 8},
                                                                  {">>", 8},
                                                                  {"<", 7},
                                                                  {">", 7},
                                                                  {"<=", 7},
                                                                  {">=", 7},
                                                                  {"==", 6},
                                                                  {"!=", 6},
                                                                  {"&", 5},
                                                                  {"^", 4},
                                                                  {"|", 3},
                                                                  {"&&", 2},
                                                                  {"^^", 1},
                                                                  {"||", 1}}};
  const auto* const found = std::ranges::find(all, symbol, &std::pair<std::string_view, int>::first);
  return found == all.end() ? 0 : found->second;
}

bool is_assignment(std::string_view symbol) {
  const bool compares = symbol == "==" || symbol == "!=" || symbol == "<=" || symbol == ">=";
  return symbol.ends_with('=') && !compares;
}

bool is_type(std::string_view word) {
  constexpr std::array<std::string_view, 18> all{
      "bool",  "int",   "uint",  "float", "vec2",  "vec3",    "vec4",    "ivec2",     "ivec3",
      "ivec4", "uvec2", "uvec3", "uvec4", "bvec4", "f16vec2", "f16vec4", "float16_t", "bvec2"};
  return std::ranges::find(all, word) != all.end();
}

GlslCode::GlslCode(std::string_view source) : source_(source) {
  for (std::size_t from = 0; from <= source.size();) {
    const std::size_t end = std::min(source.find('\n', from), source.size());
    lines_.push_back(source.substr(from, end - from));
    from = end + 1;
  }
  split();
  match_brackets();
  mark_layouts();
  count_regions();
}

void GlslCode::split() {
  Reader reader(source_);
  for (std::size_t offset = reader.next(); offset < source_.size(); offset = reader.next()) {
    const std::string_view rest = reader.rest();
    Token token{.offset = offset, .line = reader.line(), .column = reader.column()};
    std::size_t length = 0;
    if (is_digit(rest.front()) || (rest.size() > 1 && rest.front() == '.' && is_digit(rest[1]))) {
      token.kind = Token::Kind::Number;
      length = length_of_number(rest);
    } else if (is_word_character(rest.front())) {
      token.kind = Token::Kind::Word;
      length = length_of_word(rest);
    } else {
      length = length_of_symbol(rest);
    }
    token.text = rest.substr(0, length);
    tokens_.push_back(token);
    reader.take(length);
  }
}

/// Branches of the preprocessor may each open a bracket that one closes: those that do not match stay alone.
void GlslCode::match_brackets() {
  std::vector<std::size_t> open;
  int depth = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    Token& token = tokens_[i];
    if (token.kind == Token::Kind::Symbol && !open.empty() && closes(token.text, text(open.back()))) {
      token.partner = open.back();
      tokens_[open.back()].partner = i;
      open.pop_back();
      if (token.text == "}") --depth;
    }
    token.depth = depth;
    if (token.kind == Token::Kind::Symbol && opens(token.text)) {
      open.push_back(i);
      if (token.text == "{") ++depth;
    }
  }
}

/// Marks tokens up to the semicolon outside of brackets.
void GlslCode::mark(std::size_t first) {
  for (std::size_t i = first; i < size(); ++i) {
    tokens_[i].is_layout = true;
    const std::size_t partner = at(i).partner;
    if (partner != no_token && partner > i) {
      for (; i < partner; ++i) tokens_[i].is_layout = true;
      tokens_[i].is_layout = true;
    } else if (text(i) == ";") {
      return;
    }
  }
}

void GlslCode::mark_layouts() {
  for (std::size_t i = 0; i < size(); ++i) {
    const bool begins = text(i) == "layout" || text(i) == "struct" || text(i).starts_with("spirv_");
    if (begins && !at(i).is_layout) mark(i);
  }
}

void GlslCode::count_regions() {
  int region = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    tokens_[i].region = region;
    const bool ends_body = text(i) == "}" && at(i).depth == 0;
    const bool ends_declaration = text(i) == ";" && at(i).depth == 0;
    if (ends_body || ends_declaration) ++region;
  }
}

bool GlslCode::is_word(std::size_t index) const {
  return index < size() && tokens_[index].kind == Token::Kind::Word;
}

bool GlslCode::is_number(std::size_t index) const {
  return index < size() && tokens_[index].kind == Token::Kind::Number;
}

bool GlslCode::is_binary(std::size_t index) const {
  if (index == 0 || precedence_of(text(index)) == 0) return false;
  const std::string_view before = text(index - 1);
  if (before == "return" || before == "case") return false;
  return is_word(index - 1) || is_number(index - 1) || before == ")" || before == "]";
}

bool GlslCode::is_declared_here(std::size_t index) const {
  if (!is_word(index) || index == 0 || !is_word(index - 1)) return false;
  constexpr std::array<std::string_view, 5> no_types{"return", "else", "case", "in", "do"};
  return std::ranges::find(no_types, text(index - 1)) == no_types.end();
}

std::size_t GlslCode::end_of_operand(std::size_t first, int precedence) const {
  std::size_t i = first;
  while (i < size()) {
    while (text(i) == "-" || text(i) == "+" || text(i) == "!" || text(i) == "~") ++i;
    if (text(i) == "(") {
      if (at(i).partner == no_token) return no_token;
      i = at(i).partner + 1;
    } else if (is_word(i) || is_number(i)) {
      ++i;
    } else {
      return no_token;
    }
    while (text(i) == "(" || text(i) == "[" || text(i) == ".") {
      if (text(i) == ".") {
        i += 2;
      } else if (at(i).partner == no_token) {
        return no_token;
      } else {
        i = at(i).partner + 1;
      }
    }
    if (precedence_of(text(i)) <= precedence) return i;
    ++i;
  }
  return no_token;
}

std::size_t GlslCode::start_of_chain(std::size_t word) const {
  std::size_t i = word;
  while (i > 1 && text(i - 1) == ".") {
    i -= 2;
    while ((text(i) == "]" || text(i) == ")") && at(i).partner != no_token && at(i).partner > 0)
      i = at(i).partner - 1;
    if (!is_word(i)) return no_token;
  }
  return i;
}

std::size_t GlslCode::find(std::string_view wanted, std::size_t first, std::size_t end) const {
  for (std::size_t i = first; i < std::min(end, size()); ++i) {
    if (text(i) == wanted) return i;
    const std::size_t partner = at(i).partner;
    if (partner != no_token && partner > i) i = partner;
  }
  return no_token;
}

std::string_view GlslCode::between(std::size_t first, std::size_t end) const {
  if (first >= end || end > size()) return {};
  const Token& last = at(end - 1);
  return source_.substr(at(first).offset, last.offset + last.text.size() - at(first).offset);
}

std::string_view GlslCode::line(int number) const {
  return lines_.at(static_cast<std::size_t>(number) - 1);
}

}  // namespace assay::mutation
