#pragma once

#include "harness/cases/case.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::cases {

/// The cases that were loaded so far, and which ids they have.
class CaseList {
 public:
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
  /// Where a case of that hash is. Ids are compared in the cases themselves: those of a million are not held
  /// twice.
  struct Slot {
    std::uint32_t hash = 0;   ///< low half of the id's
    std::uint32_t place = 0;  ///< index of the case and 1; 0: the slot is empty
  };

  void grow_table(std::size_t cases);
  void insert(Slot slot);

  std::vector<Case> cases_;
  std::vector<Slot> table_;  ///< open addressing; its size is a power of two, half of it empty at least
};

}  // namespace assay::cases
