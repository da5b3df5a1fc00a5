#include "harness/cases/renamed_tunables.h"

#include <gtest/gtest.h>

namespace assay::cases {
namespace {

TEST(RenamedTunables, HaveTheFieldsWords) {
  EXPECT_EQ(renamed_tunable("places"), "vectors_per_invocation");
  EXPECT_EQ(renamed_tunable("apart"), "stride");
  EXPECT_EQ(renamed_tunable("rounds"), "iterations");
  EXPECT_EQ(renamed_tunable("local_size"), std::nullopt);
}

}  // namespace
}  // namespace assay::cases
