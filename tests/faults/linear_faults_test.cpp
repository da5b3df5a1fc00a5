#include "ops/registry.h"
#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

// Bugs of the host that linear layers have had: the programs of the real ops with one thing wrong. Bugs of
// their kernels are in seeded/faults.yaml; README.md says which fault is which bug.

namespace assay::faults {
namespace {

using ::testing::ContainsRegex;

using Damage = std::function<void(Program&)>;

/// The op with one impl, whose program is damaged. An op is kept by the caller, as cases refer to it.
Op damaged(const std::string& name, const std::string& impl, const Damage& damage) {
  static const Registry registry = ops::registry();
  const Op* real = registry.find(name);
  if (real == nullptr) throw std::logic_error("there is no op " + name);
  Op op = *real;
  Impl wrong = *real->find_impl(impl);
  wrong.build = [build = wrong.build, damage](const BuildContext& context) {
    Program program = build(context);
    damage(program);
    return program;
  };
  op.impls = {std::move(wrong)};
  return op;
}

Params params_of(const Op& op, std::int64_t m, std::int64_t k, const Params& own) {
  Params params = own;
  params.set("M", m);
  params.set("K", k);
  params.set("N", std::int64_t{20});
  for (const ParamSpec& spec : op.params) {
    if (!params.has(spec.name)) params.set(spec.name, spec.default_for(params).value());
  }
  return params;
}

Dispatch& dispatch_of(Program& program, const std::string& shader) {
  const auto found = std::ranges::find(program.dispatches, shader, &Dispatch::shader);
  if (found == program.dispatches.end()) throw std::logic_error("no dispatch of " + shader);
  return *found;
}

Scratch& scratch_of(Program& program, const std::string& name) {
  const auto found = std::ranges::find(program.scratch, name, &Scratch::name);
  if (found == program.scratch.end()) throw std::logic_error("no scratch " + name);
  return *found;
}

Damage with_define(const std::string& shader, const std::string& name, const std::string& value) {
  return [=](Program& program) {
    for (Define& define : dispatch_of(program, shader).defines) {
      if (define.name == name) define.value = value;
    }
  };
}

Record run(const Op& op, std::int64_t m, std::int64_t k, const Params& own = {}, Mode mode = Mode::Accu) {
  return Bench::shared().run(fault_case(op, op.impls.front().name, params_of(op, m, k, own)), mode);
}

void expect_wrong(const Op& op, const std::string& metric, const std::string& reason,
                  const Params& own = {}) {
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    const Record record = run(op, 5, 64, own, mode);
    EXPECT_EQ(record.status, Status::Fail) << record.reason;
    ASSERT_TRUE(record.accuracy.has_value()) << record.reason;
    EXPECT_EQ(record.accuracy->metric, metric);
    EXPECT_THAT(record.reason, ContainsRegex(reason));
    EXPECT_FALSE(record.perf.has_value());
  }
}

Params set(const std::string& name, const Value& value) {
  Params params;
  params.set(name, value);
  return params;
}

TEST(LinearFault, NoneIsRight) {
  const Op op = damaged("linear_dq8ca_q4gsw", "tiled", [](Program&) {});
  EXPECT_EQ(run(op, 5, 64).status, Status::Pass);
  EXPECT_EQ(run(op, 40, 64).status, Status::Pass);
}

// Half of K places for a scale each: enough as long as M is no more.
TEST(LinearFault, ScratchSizedByKIsWrittenPastItsEndWhereMIsMore) {
  const Op op = damaged("linear_dq8ca_q4gsw", "tiled",
                        [](Program& program) { scratch_of(program, "x_scale").shape = {64 / 2}; });
  EXPECT_EQ(run(op, 32, 64).status, Status::Pass) << "as others saw it";
  const Record record = run(op, 40, 64);
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_EQ(record.accuracy->metric, "write_out_of_bounds");
  EXPECT_THAT(record.reason,
              ContainsRegex("'scratch x_scale' was written past its end: (29|30|31|32) bytes"));
}

TEST(LinearFault, AReluThatIsNotPassedOnIsSeen) {
  const Op op = damaged("linear_q8csw", "gemv", with_define("linear_gemv.comp", "RELU", "0"));
  EXPECT_EQ(run(op, 5, 64).status, Status::Pass) << "without a relu";
  expect_wrong(op, "wrong_value", "^y\\[.*expected 0 by the reference, got -",
               set("activation", std::string("relu")));
}

TEST(LinearFault, TheOtherOrderOfNibblesIsSeen) {
  const Op op = damaged("linear_q4gsw", "gemv", with_define("linear_pack.comp", "HIGH_FIRST", "1"));
  expect_wrong(op, "wrong_value", "^y\\[0, 0\\]");
}

TEST(LinearFault, RowsThatAreNotComputedAreUnwritten) {
  const Op op = damaged("linear_q8csw", "gemv", [](Program& program) {
    dispatch_of(program, "linear_gemv.comp").workgroups = {1, 1, 1};
  });
  expect_wrong(op, "unwritten", "elements of 'y' were never written, first y\\[1, 0\\]");
}

TEST(LinearFault, AKernelThatIsNotDispatchedIsSeen) {
  const Op op = damaged("linear_q8csw", "tiled", [](Program& program) { program.dispatches.pop_back(); });
  expect_wrong(op, "unwritten", "100 of 100 elements of 'y' were never written");
}

TEST(LinearFault, WeightsThatAreNotPackedAreSeen) {
  const Op op = damaged("linear_q8csw", "tiled", [](Program& program) {
    program.dispatches.erase(program.dispatches.begin());
    program.unchecked_because = seen_when_run;
  });
  expect_wrong(op, "depends_on_old_output", "depends on what outputs or scratch held before: 100 of 100");
}

TEST(LinearFault, AVariantThatIsMissingFailsByItsName) {
  const Op op = damaged("linear_q8csw", "gemv", [](Program& program) {
    dispatch_of(program, "linear_gemv.comp").shader = "linear_gemv_f16.comp";
  });
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    const Record record = run(op, 5, 64, {}, mode);
    EXPECT_EQ(record.status, Status::Fail);
    EXPECT_THAT(record.reason, ContainsRegex("linear_gemv_f16.comp"));
    EXPECT_FALSE(record.accuracy || record.perf);
  }
}

}  // namespace
}  // namespace assay::faults
