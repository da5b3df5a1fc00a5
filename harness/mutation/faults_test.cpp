#include "harness/mutation/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace assay::mutation {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// "kind: the line with the fault" for each fault of a statement in a function.
std::vector<std::string> faults_in(const std::string& line) {
  const std::string source = "void f() {\n" + line + "\n}\n";
  std::vector<std::string> all;
  for (const Fault& fault : faults_of("a.comp", source)) {
    const std::string changed = with_fault(fault, source);
    all.push_back(fault.kind + ": " + changed.substr(11, changed.size() - 14));
  }
  return all;
}

TEST(Faults, OfComparisons) {
  EXPECT_THAT(faults_in("b = a < c;"), Contains("bound_off_by_one: b = a <= c;"));
  EXPECT_THAT(faults_in("b = a >= c;"), Contains("bound_off_by_one: b = a > c;"));
  EXPECT_THAT(faults_in("b = a == c && d;"),
              IsSupersetOf({"equality_inverted: b = a != c && d;", "and_or_swapped: b = a == c || d;"}));
}

TEST(Faults, OfArithmetic) {
  EXPECT_THAT(faults_in("b = a + c * d;"),
              IsSupersetOf({"minus_for_plus: b = a - c * d;", "term_dropped: b = a ;",
                            "divided_for_times: b = a + c / d;", "factor_dropped: b = a + c ;"}));
  EXPECT_THAT(faults_in("b -= a % c;"),
              IsSupersetOf({"plus_for_minus: b += a % c;", "accumulation_lost: b = a % c;",
                            "quotient_for_rest: b -= a / c;"}));
  EXPECT_THAT(faults_in("b = -a;"), Contains("sign_dropped: b = a;"));
  EXPECT_THAT(faults_in("b = !a;"), Contains("negation_dropped: b = a;"));
}

TEST(Faults, OfBits) {
  EXPECT_THAT(faults_in("b = a >> c;"),
              IsSupersetOf({"shift_one_more: b = a >> 1 + c;", "shift_one_less: b = a >> -1 + c;",
                            "shift_reversed: b = a << c;"}));
  EXPECT_THAT(faults_in("b = a & c;"), Contains("bits_swapped: b = a | c;"));
}

TEST(Faults, OfConstants) {
  EXPECT_THAT(faults_in("b = 4u;"),
              IsSupersetOf({"constant_plus_one: b = 5u;", "constant_minus_one: b = 3u;"}));
  EXPECT_THAT(faults_in("b = 0;"), Not(Contains(::testing::StartsWith("constant_minus_one"))));
  EXPECT_THAT(faults_in("b = 0x7f;"), Contains("constant_plus_one: b = 0x80;"));
  EXPECT_THAT(faults_in("b = 0.5;"), Contains("constant_plus_one: b = (0.5 + 1.0);"));
  EXPECT_THAT(faults_in("b = 6.1e-5;"), Contains("constant_doubled: b = (6.1e-5 * 2.0);"));
  EXPECT_THAT(faults_in("float b = 0.0;"), ElementsAre("initial_value_changed: float b = (0.0 + 1.0);"));
}

TEST(Faults, OfRoundingAndLimits) {
  EXPECT_THAT(faults_in("b = roundEven(a);"),
              IsSupersetOf({"rounding_truncated: b = trunc(a);", "rounding_half_up: b = floor((a) + 0.5);"}));
  EXPECT_THAT(faults_in("b = floor(a);"), Contains("rounding_up: b = ceil(a);"));
  EXPECT_THAT(faults_in("b = trunc(a);"), Contains("rounding_down: b = floor(a);"));
  EXPECT_THAT(faults_in("b = clamp(a, lo, hi);"),
              IsSupersetOf({"limit_dropped: b = (a);", "clamp_low_moved: b = clamp(a, (lo) + 1, hi);",
                            "clamp_high_moved: b = clamp(a, lo, (hi) - 1);"}));
  EXPECT_THAT(faults_in("b = min(a, c);"),
              IsSupersetOf({"min_max_swapped: b = max(a, c);", "limit_dropped: b = (a);"}));
  EXPECT_THAT(faults_in("if (isnan(a)) b = 0;"), Contains("nan_dropped: if ((isnan(a) && false)) b = 0;"));
}

TEST(Faults, OfCalls) {
  EXPECT_THAT(faults_in("b = f(c, d);"), Contains("arguments_swapped: b = f(d, c);"));
  EXPECT_THAT(faults_in("b = max(c, d);"), Not(Contains("arguments_swapped: b = max(d, c);")));
  EXPECT_THAT(faults_in("b = f(c, c);"), Not(Contains("arguments_swapped: b = f(c, c);")));
  EXPECT_THAT(faults_in("barrier();"), ElementsAre("barrier_removed: ;"));
  EXPECT_THAT(faults_in("store(a);"), ElementsAre("statement_dropped: ;"));
  EXPECT_THAT(faults_in("b[i] = a;"), Contains("statement_dropped: ;"));
}

TEST(Faults, OfFlow) {
  EXPECT_THAT(faults_in("if (a) b = c;"), IsSupersetOf({"branch_always: if ((a) || true) b = c;",
                                                        "branch_never: if ((a) && false) b = c;"}));
  EXPECT_THAT(faults_in("b = a ? c : d;"), IsSupersetOf({"choice_always_first: b = a ? c : (c);",
                                                         "choice_always_second: b = a ? (d) : d;"}));
  EXPECT_THAT(faults_in("for (uint i = 0u; i < n; ++i) b += i;"),
              Contains("loop_once_less: for (uint i = 0u; i + 1 < n; ++i) b += i;"));
  EXPECT_THAT(faults_in("if (a) break;"), Contains("exit_swapped: if (a) continue;"));
}

TEST(Faults, DoNotAddAFifthLane) {
  const std::vector<std::string> faults = faults_in("for (uint i = 0u; i < 4u; ++i) a[i] = b;");
  EXPECT_THAT(faults, Contains("constant_minus_one: for (uint i = 0u; i < 3u; ++i) a[i] = b;"));
  EXPECT_THAT(faults, Contains("loop_once_less: for (uint i = 0u; i + 1 < 4u; ++i) a[i] = b;"));
  EXPECT_THAT(faults, Not(Contains("constant_plus_one: for (uint i = 0u; i < 5u; ++i) a[i] = b;")));
  EXPECT_THAT(faults, Not(Contains("bound_off_by_one: for (uint i = 0u; i <= 4u; ++i) a[i] = b;")));
}

TEST(Faults, OfWhatIsIgnored) {
  EXPECT_THAT(faults_in("b = a - push.x.zero_point;"),
              Contains("zero_point_ignored: b = a - (push.x.zero_point * 0);"));
  EXPECT_THAT(faults_in("b = a * scales[0].scale;"),
              Contains("scale_ignored: b = a * (scales[0].scale * 0 + 1);"));
  EXPECT_THAT(faults_in("b = f(batch, lane);"), IsSupersetOf({"batch_ignored: b = f((batch * 0), lane);",
                                                              "lane_ignored: b = f(batch, (lane * 0));"}));
  EXPECT_THAT(faults_in("scale = a;"), Not(Contains(::testing::StartsWith("scale_ignored"))));
  EXPECT_THAT(faults_in("const float scale = a;"), Not(Contains(::testing::StartsWith("scale_ignored"))));
}

TEST(Faults, OfNeighbours) {
  EXPECT_THAT(faults_in("uint row = a; uint column = b; c = column;"),
              Contains("variable_swapped: uint row = a; uint column = b; c = row;"));
  EXPECT_THAT(faults_in("uint row = a; float column = b; c = column;"),
              Not(Contains(::testing::StartsWith("variable_swapped"))));
  EXPECT_THAT(faults_in("b = id.x;"), Contains("lane_swapped: b = id.y;"));
}

TEST(Faults, OfMembersOfAStructInAnIncludedFile) {
  const std::string struct_file = "struct Push { uint height; uint width; float scale; };";
  const std::string source = "uint f() { return push.width; }";
  std::vector<std::string> swapped;
  for (const Fault& fault : faults_of("a.comp", source, {struct_file})) {
    if (fault.kind == "member_swapped") swapped.push_back(with_fault(fault, source));
  }
  EXPECT_THAT(swapped, ElementsAre("uint f() { return push.height; }"));
}

TEST(Faults, LeaveCommentsDirectivesAndDeclarationsForTheHostAlone) {
  EXPECT_THAT(faults_of("a.comp",
                        "#version 450\n// a + 1\n/* b < 2 */\n#define F(x) (x + 1)\n"
                        "layout(constant_id = 4) const uint n = 4u;\n"
                        "layout(push_constant) uniform Push { uint a[4]; } push;\n"
                        "struct S { uint a[2]; };\n"
                        "spirv_execution_mode(capabilities = [4467], 4462, 32);\n"),
              IsEmpty());
}

TEST(Faults, AreOnOneLine) {
  for (const Fault& fault : faults_of("a.comp", "void f() {\n  b = max(a,\n          c + d);\n}\n"))
    EXPECT_EQ(fault.before.find('\n'), std::string::npos) << fault.kind;
}

constexpr const char* sample =
    "void f(uint a) {\n  uint b = a + 1u;\n  uint c = a + 1u;\n  if (b < c) store(b * c);\n}\n";

std::vector<std::string> ids_of(const std::vector<Fault>& faults) {
  std::vector<std::string> ids;
  for (const Fault& fault : faults) ids.push_back(fault.id);
  return ids;
}

TEST(Faults, HaveIdsOfTheirOwn) {
  const std::vector<std::string> ids = ids_of(faults_of("a.comp", sample));
  EXPECT_GT(ids.size(), 10U);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
}

TEST(Faults, KeepTheirIdsWhenOtherLinesChange) {
  const std::vector<std::string> before = ids_of(faults_of("a.comp", sample));
  const std::vector<std::string> after =
      ids_of(faults_of("a.comp", "// A comment.\nconst uint k = 3u;\n" + std::string(sample)));
  EXPECT_THAT(after, IsSupersetOf(before));
}

TEST(Faults, AreShuffledBySeedAlone) {
  const std::vector<Fault> faults = faults_of("a.comp", sample);
  std::vector<Fault> reversed(faults.rbegin(), faults.rend());
  EXPECT_EQ(ids_of(shuffled(faults, 7)), ids_of(shuffled(reversed, 7)));
  EXPECT_NE(ids_of(shuffled(faults, 7)), ids_of(shuffled(faults, 8)));
}

}  // namespace
}  // namespace assay::mutation
