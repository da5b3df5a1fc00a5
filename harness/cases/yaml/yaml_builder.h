#pragma once

#include "harness/cases/yaml/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay::cases {

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

}  // namespace assay::cases
