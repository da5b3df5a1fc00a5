#include "harness/cases/yaml/yaml_parser.h"

#include "harness/cases/yaml/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay::cases {
namespace {

/// Builds the tree of nodes from the parser's events. Throws Problem for what a tree may not contain.
class YamlBuilder : public YAML::EventHandler {
 public:
  YamlBuilder(const SourceFile& file, Arena& arena, const TreeLimits& limits)
      : file_(file), arena_(arena), limits_(limits) {}

  const Node* root() const { return root_; }
  /// Returns the list or map that is currently being read, for messages about a missing end.
  const Node* innermost_open() const { return open_.empty() ? nullptr : open_.back().node; }

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { end_collection(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { end_collection(); }

 private:
  struct Open {
    Node* node = nullptr;
    const Node* key = nullptr;  ///< in a map: a key that was read and whose value was not yet
  };

  Node* new_node(const YAML::Mark& mark, Node::Kind kind, YAML::anchor_t anchor);
  void start_collection(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                        Node::Kind kind);
  void end_collection();
  void add(const Node* node);
  void weigh(Node& node) const;
  void note_flaws(Node& map) const;
  bool begins_with_tag(const Node& node) const;
  void refuse_tag(const Node& node, const std::string& tag) const;
  void check_quotes_end(const Node& node, const YAML::Mark& mark) const;

  const SourceFile& file_;
  Arena& arena_;
  TreeLimits limits_;
  const Node* root_ = nullptr;
  bool has_document_ = false;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, const Node*> anchors_;
};

void YamlBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (has_document_) {
    throw Problem(
        file_.diagnose({mark.line, mark.column},
                       "a second YAML document begins here: a file holds one; put it in a file of its own"));
  }
  has_document_ = true;
}

void YamlBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  add(new_node(mark, Node::Kind::Null, anchor));
}

void YamlBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const Node* target = anchors_.at(anchor);
  const bool inside_itself =
      std::any_of(open_.begin(), open_.end(), [&](const Open& open) { return open.node == target; });
  if (inside_itself) {
    throw Problem(file_.diagnose({mark.line, mark.column}, "this alias is inside its own anchor"));
  }
  add(target);
}

void YamlBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  Node* node = new_node(mark, Node::Kind::Scalar, anchor);
  node->text = value;
  node->quoted = tag == "!";
  refuse_tag(*node, tag);
  check_quotes_end(*node, mark);
  add(node);
}

void YamlBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                                  YAML::EmitterStyle::value /*style*/) {
  start_collection(mark, tag, anchor, Node::Kind::List);
}

void YamlBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value /*style*/) {
  start_collection(mark, tag, anchor, Node::Kind::Map);
}

Node* YamlBuilder::new_node(const YAML::Mark& mark, Node::Kind kind, YAML::anchor_t anchor) {
  Node& node = arena_.emplace_back();
  node.kind = kind;
  node.file = &file_;
  node.mark = {mark.line, mark.column};
  if (anchor != 0) anchors_[anchor] = &node;
  return &node;
}

void YamlBuilder::start_collection(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                                   Node::Kind kind) {
  Node* node = new_node(mark, kind, anchor);
  refuse_tag(*node, tag);
  if (static_cast<int>(open_.size()) >= limits_.depth) {
    throw Problem(diagnose(*node, fmt::format("values are nested more than {} deep", limits_.depth)));
  }
  open_.push_back({node, nullptr});
}

void YamlBuilder::end_collection() {
  Node* node = open_.back().node;
  open_.pop_back();
  weigh(*node);
  if (node->is_map()) note_flaws(*node);
  add(node);
}

void YamlBuilder::add(const Node* node) {
  if (open_.empty()) {
    root_ = node;
    return;
  }
  Open& parent = open_.back();
  if (parent.node->is_list()) {
    parent.node->items.push_back(node);
  } else if (parent.key == nullptr) {
    parent.key = node;
  } else {
    parent.node->entries.push_back({parent.key, node});
    parent.key = nullptr;
  }
}

// The weight of an alias is its anchor's, which is already known, so a YAML bomb is measured in linear time.
void YamlBuilder::weigh(Node& node) const {
  for (const Node* item : node.items) {
    node.weight = saturating_add(node.weight, item->weight);
    node.flawed = node.flawed || item->flawed;
  }
  for (const Node::Entry& entry : node.entries) {
    node.weight = saturating_add(node.weight, saturating_add(entry.key->weight, entry.value->weight));
    node.flawed = node.flawed || entry.value->flawed;
  }
  if (node.weight > limits_.nodes) {
    throw Problem(diagnose(
        node, fmt::format("with its aliases expanded this value has {} parts, more than the limit of {}",
                          node.weight, limits_.nodes)));
  }
}

void YamlBuilder::note_flaws(Node& map) const {
  std::unordered_map<std::string_view, const Node*> first;
  for (const Node::Entry& entry : map.entries) {
    const Node& key = *entry.key;
    if (!key.is_scalar()) {
      map.flaws.push_back({Flaw::Kind::KeyIsNoName, &key, nullptr});
    } else if (key.text == "<<" && !key.quoted) {
      map.flaws.push_back({Flaw::Kind::MergeKey, &key, nullptr});
    } else if (const auto [known, is_new] = first.emplace(key.text, &key); !is_new) {
      map.flaws.push_back({Flaw::Kind::DuplicateKey, &key, known->second});
    }
  }
  map.flawed = map.flawed || !map.flaws.empty();
}

/// Whether a tag is written before a value, possibly after its anchor.
bool YamlBuilder::begins_with_tag(const Node& node) const {
  std::string_view rest = file_.line(node.mark.line + 1);
  rest = rest.substr(std::min(static_cast<std::size_t>(node.mark.byte), rest.size()));
  if (rest.starts_with('&')) {
    rest.remove_prefix(std::min(rest.find_first_of(" \t"), rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  }
  return rest.starts_with('!');
}

// The parser gives the tag "!" also to quoted text, which has none.
void YamlBuilder::refuse_tag(const Node& node, const std::string& tag) const {
  if (tag.empty() || tag == "?") return;
  if (tag == "!" && node.is_scalar() && !begins_with_tag(node)) return;
  throw Problem(diagnose(node, "YAML tags ('!...') are not part of the case language"));
}

// The parser accepts the end of the file as a closing quote.
void YamlBuilder::check_quotes_end(const Node& node, const YAML::Mark& mark) const {
  const std::string_view line = file_.line(mark.line + 1);
  const auto column = static_cast<std::size_t>(mark.column);
  if (column >= line.size()) return;
  const char quote = line[column];
  if (!node.quoted || (quote != '"' && quote != '\'')) return;
  const std::string& text = file_.text();
  auto position = static_cast<std::size_t>(line.data() - text.data()) + column + 1;
  for (; position < text.size() && text[position] != quote; ++position) {
    if (quote == '"' && text[position] == '\\') ++position;
  }
  if (position >= text.size()) throw Problem(diagnose(node, "YAML syntax: this quote is never closed"));
}

/// The scanner holds a whole flow collection in memory before its first event, some 100 bytes per character.
/// What could never pass the tree's limits is therefore refused before scanning.
void check_before_scanning(const SourceFile& file, const TreeLimits& limits) {
  constexpr int deepest = 1000;
  int depth = 0;
  std::uint64_t separators = 0;
  Mark at;
  for (const char c : file.text()) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') depth = std::max(depth - 1, 0);
    if (std::string_view("[{,:?\n").find(c) != std::string_view::npos) ++separators;
    if (depth > deepest) {
      throw Problem(file.diagnose(
          at, fmt::format("more than {} brackets are open here: values may be nested at most {} deep",
                          deepest, limits.depth)));
    }
    at = c == '\n' ? Mark{at.line + 1, 0} : Mark{at.line, at.byte + 1};
  }
  if (separators > 2 * limits.nodes) {
    throw Problem(file.diagnose({}, fmt::format("about {} values in one file, more than the limit of {}",
                                                separators / 2, limits.nodes)));
  }
}

/// Returns whether the line's indentation contains a tab.
bool is_indented_by_tab(std::string_view line) {
  return line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string_view::npos;
}

/// Returns the column of a line's text, behind blanks and the dashes of list items; nothing if it has none.
std::optional<std::size_t> column_of_text(std::string_view line) {
  std::size_t column = line.find_first_not_of(" \t");
  while (column != line.npos && (line.substr(column).starts_with("- ") || line.substr(column) == "-"))
    column = line.find_first_not_of(" \t", column + 1);
  return column == line.npos ? std::nullopt : std::optional(column);
}

/// Returns how many more brackets of lists and maps a line closes than it opens.
std::ptrdiff_t closed_brackets(std::string_view line) {
  const auto count = [&](std::string_view brackets) {
    return std::ranges::count_if(line, [&](char c) { return brackets.find(c) != brackets.npos; });
  };
  return count("]}") - count("[{");
}

/// Returns whether a line has a key: a colon that a blank or the line's end follows.
bool has_key(std::string_view line) {
  return line.ends_with(':') || line.find(": ") != line.npos;
}

/// Returns the key of a text such as "name:one", where no blank follows the colon; empty for any other text.
std::string_view key_without_blank(std::string_view text) {
  constexpr std::string_view of_names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  const std::size_t colon = text.find_first_not_of(of_names);
  if (colon == text.npos || colon == 0 || text[colon] != ':') return {};
  const bool is_followed = colon + 1 < text.size() && text[colon + 1] != ' ' && text[colon + 1] != '\t';
  return is_followed ? text.substr(0, colon) : std::string_view();
}

/// Returns where the uppermost text without a key begins that is above a line and that no line between them
/// ends by being less deep, nor that line itself, whose depth is `shallowest`. Nothing if it is a key's
/// value.
std::optional<Mark> begin_of_text_above(const SourceFile& file, int line_number, std::size_t shallowest) {
  std::optional<Mark> begin;
  std::ptrdiff_t open = 0;  // brackets that lines below close
  for (int number = line_number - 1; number > 0; --number) {
    const std::string_view line = file.line(number);
    const std::optional<std::size_t> column = column_of_text(line);
    open = std::max<std::ptrdiff_t>(0, open + closed_brackets(line));
    if (open > 0 && column && key_without_blank(line.substr(*column)).empty()) continue;
    const std::size_t below = std::exchange(shallowest, std::min(shallowest, line.find_first_not_of(" \t")));
    if (!column) continue;  // the scanner reads on over empty lines
    if (line[*column] == '#') break;
    if (has_key(line)) {
      const bool is_value_of_it = !line.ends_with(':') && begin && begin->byte > static_cast<int>(*column);
      return is_value_of_it ? std::nullopt : begin;
    }
    // A deeper line belongs to an earlier value, or to the text that a line above it begins.
    if (*column <= below) begin = Mark{number - 1, static_cast<int>(*column)};
  }
  return begin;
}

/// Returns where the text begins that the scanner read on, from line to line, up to the colon that it then
/// refuses as the end of a key. Nothing if that is the colon's own line.
std::optional<Mark> begin_of_refused_key(const SourceFile& file, const YAML::Mark& colon) {
  const auto before_colon = static_cast<std::size_t>(std::max(colon.column, 0));
  const std::string_view line = file.line(colon.line + 1);
  if (has_key(line.substr(0, before_colon))) return std::nullopt;
  const auto begin = begin_of_text_above(file, colon.line + 1, line.find_first_not_of(" \t"));
  // The last key of a map may be refused only behind the map, in a line that is less deep.
  return begin ? begin : begin_of_text_above(file, colon.line + 1, line.npos);
}

/// Throws for what the scanner says of a key without a colon that ends it. The scanner takes the text of the
/// next line for a part of such a key, and tells the place where it gives up.
void throw_unended_key(const SourceFile& file, const YAML::ParserException& error) {
  const bool is_colon = error.msg == YAML::ErrorMsg::MAP_VALUE;
  if (!is_colon && error.msg != YAML::ErrorMsg::END_OF_MAP) return;
  const std::optional<Mark> begin = is_colon ? begin_of_refused_key(file, error.mark) : std::nullopt;
  const Mark at = begin.value_or(Mark{std::max(error.mark.line, 0), std::max(error.mark.column, 0)});
  const std::string_view line = file.line(at.line + 1);
  const std::string_view key =
      key_without_blank(line.substr(std::min(static_cast<std::size_t>(at.byte), line.size())));
  if (!key.empty())
    throw Problem(file.diagnose(at, fmt::format("YAML syntax: a blank is missing after '{}:'", key)));
  if (!begin) return;
  const SourceLocation colon = file.locate({error.mark.line, error.mark.column});
  throw Problem(file.diagnose(
      at, fmt::format("YAML syntax: this text has no ':' and is read as a key up to the one at {}:{}; a key "
                      "and its ':' are in one line",
                      colon.line, colon.column)));
}

[[noreturn]] void throw_syntax_error(const SourceFile& file, const YAML::ParserException& error,
                                     const YamlBuilder& builder) {
  throw_unended_key(file, error);
  std::string message = "YAML syntax: " + error.msg;
  if (is_indented_by_tab(file.line(error.mark.line + 1))) message += "; indent with blanks, not tabs";
  const Node* open = builder.innermost_open();
  if (open != nullptr && error.msg.starts_with("end of")) {
    const SourceLocation begin = location_of(*open);
    message += fmt::format(" for the {} that begins at {}:{}", open->is_map() ? "map" : "list", begin.line,
                           begin.column);
  }
  throw Problem(file.diagnose({std::max(error.mark.line, 0), error.mark.column}, message));
}

}  // namespace

const Node* parse_yaml(const SourceFile& file, Arena& arena, const TreeLimits& limits) {
  check_before_scanning(file, limits);
  YamlBuilder builder(file, arena, limits);
  try {
    std::istringstream stream(file.text());
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::ParserException& error) {
    throw_syntax_error(file, error, builder);
  } catch (const YAML::Exception& error) {
    throw Problem(file.diagnose({}, std::string("YAML: ") + error.what()));
  }
  return builder.root();
}

}  // namespace assay::cases
