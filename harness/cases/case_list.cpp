#include "harness/cases/case_list.h"

#include "harness/base/hash.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace assay::cases {
namespace {

std::uint32_t hash_of(std::string_view id) {
  return static_cast<std::uint32_t>(hash64(id));
}

}  // namespace

void CaseList::expect(std::size_t more) {
  const std::size_t needed = cases_.size() + more;
  // Capacity at least doubles, so that many small products do not cause a copy each.
  if (needed > cases_.capacity()) cases_.reserve(std::max(needed, 2 * cases_.capacity()));
  grow_table(needed);
}

const Case* CaseList::find(std::string_view id) const {
  if (table_.empty()) return nullptr;
  const std::uint32_t hash = hash_of(id);
  for (std::size_t at = hash;; ++at) {
    const Slot& slot = table_[at % table_.size()];
    if (slot.place == 0) return nullptr;
    if (slot.hash == hash && cases_[slot.place - 1].id == id) return &cases_[slot.place - 1];
  }
}

void CaseList::add(Case added) {
  grow_table(cases_.size() + 1);
  cases_.push_back(std::move(added));
  insert({hash_of(cases_.back().id), static_cast<std::uint32_t>(cases_.size())});
}

void CaseList::grow_table(std::size_t cases) {
  if (2 * cases <= table_.size()) return;
  const std::vector<Slot> old = std::exchange(table_, std::vector<Slot>(std::bit_ceil(2 * cases)));
  for (const Slot& slot : old) {
    if (slot.place != 0) insert(slot);
  }
}

void CaseList::insert(Slot slot) {
  std::size_t at = slot.hash;
  while (table_[at % table_.size()].place != 0) ++at;
  table_[at % table_.size()] = slot;
}

std::vector<Case> CaseList::take() && {
  table_.clear();
  return std::move(cases_);
}

}  // namespace assay::cases
