#include "harness/op/data_text.h"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

Value none(const Params&) {
  return std::string("none");
}

Op op_with_choices() {
  return {.name = "example",
          .params = {integer("n"), choice("older", {"none", "relu"}).by_default(std::string("none")),
                     choice("newer", {"none", "relu"}).derived(none)}};
}

Params params_of(const std::string& older, const std::string& newer) {
  Params params;
  params.set("n", std::int64_t{3});
  params.set("older", older);
  params.set("newer", newer);
  return params;
}

TEST(DataText, HasNoChoiceThatIsDerivedFromTheRest) {
  EXPECT_EQ(data_text(op_with_choices(), params_of("none", "none")), "n=3 older=none");
  EXPECT_EQ(data_text(op_with_choices(), params_of("relu", "none")), "n=3 older=relu");
}

TEST(DataText, HasAChoiceThatSaysMore) {
  EXPECT_EQ(data_text(op_with_choices(), params_of("none", "relu")), "n=3 newer=relu older=none");
}

TEST(DataText, HasParametersThatTheOpDoesNotDeclare) {
  Params params = params_of("none", "none");
  params.set("more", std::int64_t{1});
  EXPECT_EQ(data_text(op_with_choices(), params), "more=1 n=3 older=none");
}

}  // namespace
}  // namespace assay
