#include "harness/cases/case_list.h"

#include <algorithm>
#include <utility>

namespace assay::cases {

void CaseList::expect(std::size_t more) {
  const std::size_t needed = cases_.size() + more;
  // At least doubled, so that many small products are not copied again for each of them.
  if (needed > cases_.capacity()) cases_.reserve(std::max(needed, 2 * cases_.capacity()));
}

const Case* CaseList::find(std::string_view id) const {
  const auto known = ids_.find(id);
  return known == ids_.end() ? nullptr : &cases_[*known];
}

void CaseList::add(Case added) {
  cases_.push_back(std::move(added));
  ids_.insert(cases_.size() - 1);
}

std::vector<Case> CaseList::take() && {
  ids_.clear();
  return std::move(cases_);
}

}  // namespace assay::cases
