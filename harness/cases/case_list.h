#pragma once

#include "harness/cases/case.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::cases {

/// Holds the cases loaded so far and looks them up by id.
class CaseList {
 public:
  std::size_t size() const { return cases_.size(); }
  /// Reserves space for N more cases.
  void expect(std::size_t more);
  /// Returns the case with that id, or null. Adding a case may invalidate the pointer.
  const Case* find(std::string_view id) const;
  /// Adds a case whose id is new.
  void add(Case added);
  /// Returns all cases in the order they were added.
  std::vector<Case> take() &&;

 private:
  /// Where a case with that hash is. Ids are compared in the cases themselves, so that those of a million
  /// cases are not stored twice.
  struct Slot {
    std::uint32_t hash = 0;   ///< lower half of the id's hash
    std::uint32_t place = 0;  ///< the case's index plus 1; 0: the slot is empty
  };

  void grow_table(std::size_t cases);
  void insert(Slot slot);

  std::vector<Case> cases_;
  std::vector<Slot>
      table_;  ///< open addressing; its size is a power of two, and at least half of it is empty
};

}  // namespace assay::cases
