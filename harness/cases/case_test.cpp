#include "harness/cases/case.h"

#include "harness/base/error.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace assay::cases {
namespace {

Case case_of(std::string id) {
  Case made;
  made.id = std::move(id);
  return made;
}

TEST(CaseList, FindsWhatWasAddedAndNothingElse) {
  CaseList list;
  EXPECT_EQ(list.find("a"), nullptr);
  // Enough that the cases move in memory, with short ids and with ids too long to be stored in the case
  // itself.
  for (int i = 0; i < 1000; ++i) {
    list.add(case_of(std::to_string(i)));
    list.add(case_of("op/name/with/a/long/path/" + std::to_string(i)));
  }
  for (int i = 0; i < 1000; ++i) {
    const std::string shorter = std::to_string(i), longer = "op/name/with/a/long/path/" + shorter;
    ASSERT_NE(list.find(shorter), nullptr);
    ASSERT_NE(list.find(longer), nullptr);
    EXPECT_EQ(list.find(shorter)->id, shorter);
    EXPECT_EQ(list.find(longer)->id, longer);
  }
  EXPECT_EQ(list.find("1000"), nullptr);
}

TEST(CaseList, GivesTheCasesInTheirOrder) {
  CaseList list;
  for (const char* id : {"b", "a", "c"}) list.add(case_of(id));
  const std::vector<Case> cases = std::move(list).take();
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0].id, "b");
  EXPECT_EQ(cases[1].id, "a");
  EXPECT_EQ(cases[2].id, "c");
}

TEST(CaseList, ManySmallProductsDoNotMoveTheCasesEachTime) {
  CaseList list;
  int moves = 0;
  for (int i = 0; i < 10000; ++i) {
    const Case* first = i == 0 ? nullptr : list.find("0");
    list.expect(1);
    list.add(case_of(std::to_string(i)));
    moves += first != list.find("0") ? 1 : 0;
  }
  EXPECT_LT(moves, 20);
}

/// Such as of a scratch that is too large for any shape. It ended the whole loading.
}  // namespace

}  // namespace assay::cases
