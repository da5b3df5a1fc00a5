#include "harness/base/shared.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay {
namespace {

TEST(Shared, CopiesAreTheSameObject) {
  const Shared<std::string> one(std::string("text"));
  const Shared<std::string> two = one;  // NOLINT(performance-unnecessary-copy-initialization): it is tested
  EXPECT_EQ(&*one, &*two);
  EXPECT_EQ(*two, "text");
}

TEST(Shared, ADefaultOneIsTheInitialValue) {
  const Shared<std::vector<int>> none;
  EXPECT_TRUE(none->empty());
  EXPECT_EQ(&*none, &*Shared<std::vector<int>>()) << "all of them are one object";
}

TEST(Shared, AnEditChangesNoOtherCopy) {
  Shared<std::vector<int>> one(std::vector<int>{1, 2});
  const Shared<std::vector<int>> two = one;
  one.edit().push_back(3);
  EXPECT_EQ(one->size(), 3U);
  EXPECT_EQ(two->size(), 2U);
  Shared<std::vector<int>> fresh;
  fresh.edit().push_back(4);
  EXPECT_EQ(fresh[0], 4);
  EXPECT_TRUE(Shared<std::vector<int>>()->empty()) << "nor the initial value";
}

TEST(Shared, AnEditOfTheOnlyCopyIsInPlace) {
  Shared<std::vector<int>> one(std::vector<int>{1, 2});
  const std::vector<int>* before = &*one;
  one.edit()[0] = 7;
  EXPECT_EQ(&*one, before);
  EXPECT_EQ(one[0], 7);
}

TEST(Shared, ComparesByValue) {
  const Shared<std::string> one(std::string("text"));
  EXPECT_EQ(one, Shared<std::string>(std::string("text")));
  EXPECT_NE(one, Shared<std::string>(std::string("other")));
  EXPECT_EQ(Shared<std::string>(), Shared<std::string>(std::string()));
}

}  // namespace
}  // namespace assay
