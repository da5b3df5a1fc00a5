#include "harness/commands/read_node_times.h"

#include "harness/report/journal/journal.h"
#include "tests/support/error_text.h"
#include "tests/support/small_op.h"
#include "tests/support/tell.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <functional>
#include <optional>

namespace assay::app {
namespace {

using ::testing::HasSubstr;

/// A row of the op `flip` that took that long.
Record flip_row(double us, const std::function<void(Record&)>& change = {}) {
  Record record = test::timed("flip", "plain", us);
  record.info.op = "flip";
  record.info.params = "shape=4";
  record.info.forms = "x=buffer/WP y=buffer/WP";
  if (change) change(record);
  return record;
}

/// The time of `flip` that a report of these rows gives.
std::optional<double> time_in(const std::vector<Record>& records, const RunInfo& run = test::sample_run()) {
  const test::TemporaryFolder folder;
  Journal journal(folder.path() / "journal.jsonl");
  test::tell(journal, records, run);
  const Op op = test::flip_op();
  const Params params = test::shape_params({4});
  const chain::OpPoint point{&op, &op.impls.front(), params, op.tensors(params)};
  const std::vector<Form> forms(2, Form{Storage::Buffer, Layout::WP});
  return read_node_times(journal.path())->find(point, forms);
}

TEST(NodeTimesOfAReport, AreThoseOfRowsThatPassedHotWithOwnKernelsUntuned) {
  EXPECT_EQ(time_in({flip_row(2.5)}), 2.5);
  const Record other = flip_row(9, [](Record& row) { row.info.params = "shape=8"; });
  const std::vector<std::function<void(Record&)>> changes{
      [](Record& row) { row.info.cache = "cold"; },      [](Record& row) { row.info.versus = true; },
      [](Record& row) { row.info.shaders = "mine"; },    [](Record& row) { row.info.tune = "tile=4"; },
      [](Record& row) { row.status = Status::Suspect; }, [](Record& row) { row.info.params = "shape=8"; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    std::vector<Record> records{flip_row(2.5, changes[i]), other};
    records.back().info.id += "/other";
    EXPECT_EQ(time_in(records), std::nullopt) << "change " << i;
  }
}

TEST(NodeTimesOfAReport, AreRefusedWithoutARowOrFromADeviceThatCheckedAccesses) {
  EXPECT_THAT(test::error_of([] { time_in({flip_row(2, [](Record& row) { row.info.cache = "cold"; })}); }),
              HasSubstr("has a time"));
  RunInfo run = test::sample_run();
  run.robust_access = true;
  EXPECT_THAT(test::error_of([&] { time_in({flip_row(2)}, run); }), HasSubstr("--robust-access"));
}

}  // namespace
}  // namespace assay::app
