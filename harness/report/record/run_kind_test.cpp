#include "harness/report/record/run_kind.h"

#include <gmock/gmock.h>

#include <set>

namespace assay {
namespace {

using ::testing::ElementsAre;

const RunKind robust_kind{.robust_access = true};
const RunKind validated_kind{.validation = true};
const RunKind profiled_kind{.as_if = "phone"};

TEST(RunKinds, AreThoseOfTheRunsOptions) {
  RunInfo run;
  EXPECT_TRUE(kind_of_run(run).is_plain());
  run.robust_access = true;
  EXPECT_EQ(kind_of_run(run), robust_kind);
  run.robust_access = false;
  run.validation = true;
  EXPECT_EQ(kind_of_run(run), validated_kind);
  run.validation = false;
  run.device.as_if = "phone";
  EXPECT_EQ(kind_of_run(run), profiled_kind);
  EXPECT_NE(profiled_kind, RunKind{.as_if = "tablet"});
}

TEST(RunKinds, AreNamedWithTheirOptions) {
  EXPECT_EQ(kind_text({}), "plain");
  EXPECT_EQ(kind_text({.robust_access = true, .validation = true, .as_if = "phone"}),
            "with robust access (--robust-access), with the validation layer (--validation), with the limits "
            "of phone (--as-if)");
  EXPECT_EQ(kind_text({.as_if = "a\x1b\nb"}), R"(with the limits of a\x1b\x0ab (--as-if))")
      << "a journal may be anybody's";
  EXPECT_EQ(kind_addition({}), "");
  EXPECT_EQ(kind_addition(robust_kind), ", with robust access (--robust-access)");
}

TEST(RunKinds, AreOrderedWithPlainRunsFirst) {
  EXPECT_THAT((std::set<RunKind>{robust_kind, {}, profiled_kind, validated_kind, robust_kind}),
              ElementsAre(RunKind{}, profiled_kind, validated_kind, robust_kind));
}

TEST(RunKinds, HaveComparableAnswersUnlessOtherProgramsRun) {
  EXPECT_TRUE(have_comparable_answers({}, validated_kind)) << "the layer changes times alone";
  EXPECT_TRUE(have_comparable_answers(robust_kind, {.robust_access = true, .validation = true}));
  EXPECT_FALSE(have_comparable_answers({}, robust_kind));
  EXPECT_FALSE(have_comparable_answers({}, profiled_kind));
  EXPECT_FALSE(have_comparable_answers(profiled_kind, {.as_if = "tablet"}));
}

}  // namespace
}  // namespace assay
