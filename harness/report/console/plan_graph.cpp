#include "harness/report/console/plan_graph.h"

#include "harness/base/text.h"

#include <cstddef>
#include <map>
#include <set>

namespace assay {
namespace {

/// A label of a Graphviz graph.
std::string quoted_for_dot(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : printable(text))
    quoted += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return quoted + '"';
}

/// The edges of a plan's graph. Tensors that enter or leave are nodes of their own.
class DotEdges {
 public:
  explicit DotEdges(const ChainPlan& plan) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) add_step("step" + std::to_string(i), plan.steps[i]);
    for (const std::string& value : unread_) add(writer_.at(value), outside(value), value);
  }

  const std::string& text() const { return text_; }

 private:
  void add_step(const std::string& node, const ChainStep& step) {
    for (const std::string& value : step.reads) {
      const auto writer = writer_.find(value);
      add(writer == writer_.end() ? outside(value) : writer->second, node, value);
      unread_.erase(value);
    }
    for (const std::string& value : step.writes) {
      writer_[value] = node;
      unread_.insert(value);
    }
  }

  static std::string name_in(const std::string& value) { return value.substr(0, value.find(" as ")); }

  std::string outside(const std::string& value) {
    const std::string node = quoted_for_dot("outside " + name_in(value));
    if (named_.insert(node).second)
      text_ += "  " + node + " [shape=plaintext, label=" + quoted_for_dot(name_in(value)) + "]\n";
    return node;
  }

  void add(const std::string& from, const std::string& to, const std::string& value) {
    text_ += "  " + from + " -> " + to + " [label=" + quoted_for_dot(value) + "]\n";
  }

  std::string text_;
  std::map<std::string, std::string> writer_;  ///< by tensor and form
  std::set<std::string> unread_;
  std::set<std::string> named_;
};

}  // namespace

std::string plan_as_dot(const Record& record) {
  const ChainPlan& plan = *record.chain;
  std::string text = "digraph " + quoted_for_dot(record.info.id) + " {\n  node [shape=box]\n";
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const ChainStep& step = plan.steps[i];
    const std::string label = step.is_transition ? step.name : step.name + ": " + step.op + "/" + step.impl;
    text += "  step" + std::to_string(i) + " [label=" + quoted_for_dot(label) +
            (step.is_transition ? ", style=filled" : "") + "]\n";
  }
  return text + DotEdges(plan).text() + "}\n";
}

}  // namespace assay
