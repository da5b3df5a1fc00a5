#pragma once

#include "harness/cases/case.h"

#include <cstddef>
#include <functional>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace assay::cases {

/// The cases that were loaded so far, and which ids they have.
class CaseList {
 public:
  CaseList() = default;
  CaseList(const CaseList&) = delete;
  CaseList& operator=(const CaseList&) = delete;

  std::size_t size() const { return cases_.size(); }
  /// So many more are about to come.
  void expect(std::size_t more);
  /// The case of that id, or null. The next one that is added may move it.
  const Case* find(std::string_view id) const;
  /// Adds a case whose id is not there yet.
  void add(Case added);
  /// All of them, in the order in which they were added.
  std::vector<Case> take() &&;

 private:
  /// Ids are looked up in the cases themselves: those of a million are not held twice.
  struct HashOfId {
    using is_transparent = void;
    const std::vector<Case>* cases;
    std::size_t operator()(std::string_view id) const { return std::hash<std::string_view>()(id); }
    std::size_t operator()(std::size_t index) const { return (*this)((*cases)[index].id); }
  };
  struct EqualIds {
    using is_transparent = void;
    const std::vector<Case>* cases;
    bool operator()(std::string_view id, std::size_t index) const { return (*cases)[index].id == id; }
    bool operator()(std::size_t index, std::string_view id) const { return (*this)(id, index); }
    bool operator()(std::size_t a, std::size_t b) const { return (*this)((*cases)[a].id, b); }
  };

  std::vector<Case> cases_;
  std::unordered_set<std::size_t, HashOfId, EqualIds> ids_{0, HashOfId{&cases_}, EqualIds{&cases_}};
};

}  // namespace assay::cases
