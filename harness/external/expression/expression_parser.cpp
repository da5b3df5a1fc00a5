#include "harness/external/expression/expression.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <span>
#include <system_error>
#include <utility>

namespace assay::external {
namespace {

using Kind = ExpressionNode::Kind;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The operators of one level: equally strong, from left to right.
using Level = std::span<const std::pair<std::string_view, std::string_view>>;

constexpr std::pair<std::string_view, std::string_view> either[] = {{"or", "or"}, {"||", "or"}};
constexpr std::pair<std::string_view, std::string_view> both[] = {{"and", "and"}, {"&&", "and"}};
constexpr std::pair<std::string_view, std::string_view> comparisons[] = {
    {"==", "=="}, {"!=", "!="}, {"<=", "<="}, {">=", ">="}, {"<", "<"}, {">", ">"}};
constexpr std::pair<std::string_view, std::string_view> sums[] = {{"+", "+"}, {"-", "-"}};
constexpr std::pair<std::string_view, std::string_view> products[] = {{"*", "*"}, {"/", "/"}, {"%", "%"}};

/// Refuses a function that does not exist, and a number of arguments that it does not take.
void check_call(const ExpressionNode& call) {
  const auto fail = [&](const std::string& what) { throw ExpressionError(call.position, what); };
  const bool is_of_list = call.text == "product" || call.text == "rank";
  const bool is_extreme = call.text == "min" || call.text == "max";
  if (!is_of_list && !is_extreme && call.text != "ceil_div" && call.text != "align") {
    fail(fmt::format("there is no function '{}': known are min, max, ceil_div, align, product, rank",
                     call.text));
  }
  const std::size_t count = call.parts.size();
  if (is_of_list && count != 1) fail(fmt::format("{} takes one shape or list", call.text));
  if (is_extreme && count == 0) fail(fmt::format("{} takes one value or more", call.text));
  if (!is_of_list && !is_extreme && count != 2) fail(fmt::format("{} takes two values", call.text));
}

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  ExpressionPart parse() {
    if (text_.size() > most_expression_bytes)
      throw ExpressionError(0, fmt::format("an expression has at most {} bytes", most_expression_bytes));
    ExpressionPart whole = part(0);
    skip_blanks();
    if (at_ < text_.size()) fail(fmt::format("'{}' was not expected here", text_.substr(at_, 1)));
    return whole;
  }

 private:
  /// Counts how deep the parser is.
  class Depth {
   public:
    explicit Depth(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.depth_ > most_expression_depth)
        parser_.fail(fmt::format("an expression is nested at most {} deep", most_expression_depth));
    }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    ExpressionParser& parser_;
  };

  [[noreturn]] void fail(const std::string& what) const { throw ExpressionError(at_, what); }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }

  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(std::string_view word) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    const std::size_t after = at_ + word.size();
    const bool goes_on = after < text_.size() && (is_letter(text_[after]) || is_digit(text_[after]));
    if (is_letter(word.front()) && goes_on) return false;
    at_ = after;
    return true;
  }

  void expect(std::string_view word, std::string_view of) {
    if (!take(word)) fail(fmt::format("'{}' is missing{}", word, of));
  }

  static ExpressionPart made(ExpressionNode node) {
    return std::make_shared<const ExpressionNode>(std::move(node));
  }

  /// Levels 0 to 5: or, and, not, comparisons, sums, products.
  ExpressionPart part(int level) {
    static constexpr std::array<Level, 6> levels{Level(either),      Level(both), Level(),
                                                 Level(comparisons), Level(sums), Level(products)};
    constexpr int negation = 2;
    if (level == static_cast<int>(levels.size())) return unary();
    if (level == negation) return negated();
    ExpressionPart left = part(level + 1);
    while (const auto found = operator_of(levels[static_cast<std::size_t>(level)])) {
      const auto [name, position] = *found;
      ExpressionPart right = part(level + 1);
      left = made({.kind = Kind::Binary, .position = position, .text = name, .parts = {left, right}});
    }
    return left;
  }

  std::optional<std::pair<std::string, std::size_t>> operator_of(Level level) {
    skip_blanks();
    const std::size_t position = at_;
    for (const auto& [written, name] : level) {
      if (take(written)) return std::pair(std::string(name), position);
    }
    return std::nullopt;
  }

  ExpressionPart negated() {
    const Depth depth(*this);
    constexpr int comparison = 3;
    skip_blanks();
    const std::size_t position = at_;
    const bool is_unequal = text_.substr(at_).starts_with("!=");
    if (!is_unequal && (take("not") || take("!")))
      return made({.kind = Kind::Not, .position = position, .parts = {negated()}});
    return part(comparison);
  }

  ExpressionPart unary() {
    const Depth depth(*this);
    skip_blanks();
    const std::size_t position = at_;
    if (take("-")) return made({.kind = Kind::Negative, .position = position, .parts = {unary()}});
    ExpressionPart inner = primary();
    while (peek() == '[') {
      const std::size_t bracket = at_++;
      ExpressionPart index = part(0);
      expect("]", " after an index");
      inner = made({.kind = Kind::Index, .position = bracket, .parts = {inner, index}});
    }
    return inner;
  }

  ExpressionPart primary() {
    const char next = peek();
    const std::size_t position = at_;
    if (is_digit(next)) return integer();
    if (is_letter(next)) return name_or_call();
    if (next == '\'' || next == '"') return quoted(next);
    if (take("(")) {
      ExpressionPart inner = part(0);
      expect(")", " after an expression in parentheses");
      return inner;
    }
    at_ = position;
    fail(next == '\0' ? "the expression ends where a value is missing"
                      : fmt::format("a value was expected, not '{}'", next));
  }

  ExpressionPart integer() {
    const std::size_t position = at_;
    std::int64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("the integer does not fit 64 bits");
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && (is_letter(text_[at_]) || text_[at_] == '.'))
      fail("only whole decimal numbers can be written here");
    return made({.kind = Kind::Integer, .position = position, .value = value});
  }

  ExpressionPart quoted(char quote) {
    const std::size_t position = at_++;
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("the quoted text has no end");
    const std::string text(text_.substr(at_, end - at_));
    at_ = end + 1;
    return made({.kind = Kind::Text, .position = position, .text = text});
  }

  ExpressionPart name_or_call() {
    const std::size_t position = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    const std::string name(text_.substr(position, at_ - position));
    if (peek() != '(') return made({.kind = Kind::Name, .position = position, .text = name});
    ++at_;
    ExpressionNode call{.kind = Kind::Call, .position = position, .text = name};
    if (peek() != ')') {
      do call.parts.push_back(part(0));
      while (take(","));
    }
    expect(")", fmt::format(" after the arguments of {}", name));
    check_call(call);
    return made(std::move(call));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

ExpressionPart parse_expression(std::string_view text) {
  return ExpressionParser(text).parse();
}

}  // namespace assay::external
