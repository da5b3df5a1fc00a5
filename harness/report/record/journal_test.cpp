#include "harness/report/record/journal.h"

#include "harness/base/error.h"
#include "harness/report/files/writers.h"
#include "tests/support/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<RowInfo> infos_of(const std::vector<Record>& records) {
  std::vector<RowInfo> infos;
  for (const Record& record : records) infos.push_back(record.info);
  return infos;
}

// A whole run as an engine tells it.
void tell(RunListener& listener, const std::vector<Record>& records) {
  listener.run(test::sample_run());
  listener.plan(infos_of(records));
  for (const Record& record : records) {
    listener.begin(record.info);
    listener.record(record);
  }
  listener.end();
}

std::string all_reports(const RunReport& report) {
  return accu_csv(report) + perf_csv(report) + perf_json(report) + perf_console(report) + junit_xml(report) +
         run_json(report);
}

ExitCode code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::Fine;
}

// Caps the size of files this process may write: a disk that is full after so many bytes.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limited{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  sighandler_t old_handler_;
};

TEST(Journal, RebuildsTheLiveReportsByteForByte) {
  const test::TemporaryFolder folder;
  ReportBuilder live;
  tell(live, test::all_kinds());
  {
    Journal journal(folder / "journal.jsonl");
    tell(journal, test::all_kinds());
  }
  const RunReport rebuilt = read_journal(folder / "journal.jsonl");
  EXPECT_TRUE(rebuilt.complete);
  EXPECT_EQ(rebuilt.records.size(), test::all_kinds().size());
  EXPECT_EQ(all_reports(rebuilt), all_reports(live.report()));
}

TEST(Journal, RebuildsTheLiveReportsOfAnUnfinishedRunToo) {
  const test::TemporaryFolder folder;
  Journal journal(folder / "journal.jsonl");
  ReportBuilder live;
  const std::vector<Record> records = test::all_kinds();
  for (RunListener* listener : std::initializer_list<RunListener*>{&journal, &live}) {
    listener->run(test::sample_run());
    listener->plan(infos_of(records));
    listener->begin(records[0].info);
  }
  EXPECT_EQ(all_reports(read_journal(journal.path())), all_reports(live.report()));
}

TEST(Journal, KeepsTheColdRowOfACaseBesideTheHotOne) {
  std::vector<Record> records = {test::timed("a", "fused", 2), test::timed("a", "fused", 3)};
  records[1].info.cache = "cold";
  ReportBuilder builder;
  tell(builder, records);
  const RunReport report = builder.report();
  ASSERT_EQ(report.records.size(), 2U);
  EXPECT_EQ(report.records[0].perf->time_us_p50, 2);
  EXPECT_EQ(report.records[1].perf->time_us_p50, 3);
}

TEST(Journal, IsOneLineAnEvent) {
  const test::TemporaryFolder folder;
  Journal journal(folder / "deep/down/journal.jsonl");
  tell(journal, {test::passed("a"), test::passed("b")});
  const std::string text = test::read_file(journal.path());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 7);
  EXPECT_THAT(text, StartsWith(R"({"event":"run","schema":2,)"));
  EXPECT_THAT(text, HasSubstr("\n{\"event\":\"record\",\"case\":{\"id\":\"shuffle/b/"));
  EXPECT_THAT(text, ::testing::EndsWith("\n{\"event\":\"end\"}\n"));
}

TEST(Journal, KeepsWhatWasRecordedBeforeAKill) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  const pid_t child = ::fork();
  if (child == 0) {
    Journal journal(path);
    journal.run(test::sample_run());
    const std::vector<RowInfo> planned = {test::sample_case("a"), test::sample_case("b"),
                                          test::sample_case("c")};
    journal.plan(planned);
    journal.begin(planned[0]);
    journal.record(test::passed("a"));
    journal.begin(planned[1]);
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  const RunReport report = read_journal(path);
  ASSERT_EQ(report.records.size(), 3U);
  EXPECT_FALSE(report.complete);
  EXPECT_FALSE(report.cut_off);
  EXPECT_EQ(report.records[0].status, Status::Pass);
  EXPECT_EQ(report.records[1].status, Status::Crash);
  EXPECT_EQ(report.records[1].reason, "the run ended while this case was running");
  EXPECT_EQ(report.records[2].status, Status::Missing);
  EXPECT_EQ(report.records[2].reason, "not reached: the run ended before it");
}

TEST(Journal, BlamesAKillOnTheRowWhoseTurnItWas) {
  const std::vector<RowInfo> rows = {test::sample_case("a", "perf"), test::sample_case("b", "perf"),
                                     test::sample_case("c", "perf")};
  // a and b are judged, then timed in turn; c is never reached. Each line may be the last one.
  const std::vector<std::size_t> turns = {0, 1, 0, 1, 0, 1};
  for (std::size_t last = 0; last < turns.size(); ++last) {
    ReportBuilder builder;
    builder.run(test::sample_run());
    builder.plan(rows);
    for (std::size_t i = 0; i <= last; ++i) builder.begin(rows[turns[i]]);
    const RunReport report = builder.report();
    for (std::size_t row = 0; row < 3; ++row)
      EXPECT_EQ(report.records[row].status, row == turns[last] ? Status::Crash : Status::Missing) << last;
    if (last > 0) {
      EXPECT_EQ(report.records[1 - turns[last]].reason,
                "not finished: the run ended while another case of its group was running");
    }
    EXPECT_EQ(report.records[2].reason, "not reached: the run ended before it");
  }
}

TEST(Journal, BlamesNobodyBetweenTheRecordsOfRowsThatWereTimedTogether) {
  ReportBuilder builder;
  builder.run(test::sample_run());
  const std::vector<Record> records = {test::timed("a", "fused", 1), test::timed("b", "fused", 1)};
  builder.plan(infos_of(records));
  builder.begin(records[0].info);
  builder.begin(records[1].info);
  builder.record(records[1]);
  EXPECT_EQ(builder.report().records[0].status, Status::Missing);
  EXPECT_EQ(builder.report().records[1].status, Status::Pass);
}

TEST(Journal, IsReadableWhereverItIsCutOff) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  {
    Journal journal(path);
    tell(journal, {test::passed("a"), test::failed("b")});
  }
  const std::string whole = test::read_file(path);
  const std::size_t run_line = whole.find('\n') + 1;
  const std::size_t plan_line = whole.find('\n', run_line) + 1;
  // Every byte of the last lines, some of the others.
  for (std::size_t size = run_line; size < whole.size(); size += size + 100 < whole.size() ? 17 : 1) {
    test::write_file(path, whole.substr(0, size));
    const RunReport report = read_journal(path);
    EXPECT_FALSE(report.complete) << size;
    EXPECT_EQ(report.cut_off, whole[size - 1] != '\n') << size;
    EXPECT_EQ(report.records.size(), size < plan_line ? 0U : 2U) << size;
  }
  test::write_file(path, whole.substr(0, run_line - 1));
  EXPECT_EQ(test::error_of([&] { read_journal(path); }),
            path.string() +
                ": the journal does not say which run it is of: it is empty or ended before the run began");
}

TEST(Journal, GoesOnAfterTheLastWholeLine) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  {
    Journal journal(path);
    journal.run(test::sample_run());
    journal.record(test::passed("a"));
  }
  // A line longer than what is read at once when the end is looked for.
  test::write_file(path, test::read_file(path) + R"({"event":"record","reason":")" + std::string(10000, 'x'));
  ASSERT_TRUE(read_journal(path).cut_off);
  {
    Journal journal(path, true);
    journal.record(test::passed("b"));
    journal.end();
  }
  const RunReport report = read_journal(path);
  EXPECT_TRUE(report.complete);
  EXPECT_FALSE(report.cut_off);
  ASSERT_EQ(report.records.size(), 2U);
  EXPECT_EQ(report.records[1].info.name, "b");
}

TEST(Journal, StartsAnewUnlessAskedToGoOn) {
  const test::TemporaryFolder folder;
  { tell(*std::make_unique<Journal>(folder / "journal.jsonl"), {test::passed("a")}); }
  { tell(*std::make_unique<Journal>(folder / "journal.jsonl"), {test::passed("b")}); }
  const RunReport report = read_journal(folder / "journal.jsonl");
  ASSERT_EQ(report.records.size(), 1U);
  EXPECT_EQ(report.records[0].info.name, "b");
}

TEST(Journal, IsWrittenByOneRunAtATime) {
  const test::TemporaryFolder folder;
  Journal first(folder / "journal.jsonl");
  first.run(test::sample_run());
  const std::string message = test::error_of([&] { Journal second(folder / "journal.jsonl"); });
  EXPECT_THAT(message, HasSubstr("another run is writing it"));
  EXPECT_EQ(read_journal(first.path()).run.run_id, test::sample_run().run_id)
      << "the first run's line is gone";
}

TEST(Journal, TellsOfAFullDisk) {
  const auto write = [] { Journal("/dev/full").run(test::sample_run()); };
  EXPECT_EQ(test::error_of(write), "cannot write the journal /dev/full: No space left on device");
  EXPECT_EQ(code_of(write), ExitCode::Infrastructure);
}

TEST(Journal, TakesAHalfWrittenLineBack) {
  const test::TemporaryFolder folder;
  Journal journal(folder / "journal.jsonl");
  journal.run(test::sample_run());
  journal.record(test::passed("a"));
  const std::string before = test::read_file(journal.path());
  std::string message;
  {
    const FileSizeLimit limit(before.size() + 100);
    message = test::error_of([&] { journal.record(test::failed("b")); });
  }
  EXPECT_EQ(message, "cannot write the journal " + journal.path().string() + ": File too large");
  EXPECT_EQ(test::read_file(journal.path()), before);
}

TEST(Journal, TellsOfAPlaceThatCannotBeWritten) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "file", "in the way");
  const auto below_a_file = [&] { Journal journal(folder / "file/journal.jsonl"); };
  EXPECT_EQ(test::error_of(below_a_file),
            "cannot create the folder " + (folder / "file").string() + ": Not a directory");
  EXPECT_EQ(code_of(below_a_file), ExitCode::Infrastructure);
  EXPECT_EQ(test::error_of([&] { Journal journal(folder.path()); }),
            "cannot open the journal " + folder.path().string() + ": Is a directory");
}

TEST(ReadJournal, NamesTheDamagedLine) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  {
    Journal journal(path);
    journal.run(test::sample_run());
  }
  test::write_file(path, test::read_file(path) + "{\"event\":\"rec\n{\"event\":\"end\"}\n");
  EXPECT_THAT(
      test::error_of([&] { read_journal(path); }),
      StartsWith(path.string() + ":2: this line of the journal is damaged: it is not JSON from column"));
  test::write_file(path, "\n");
  EXPECT_THAT(test::error_of([&] { read_journal(path); }), StartsWith(path.string() + ":1: "));
}

TEST(ReadJournal, TellsOfAFileThatCannotBeRead) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(test::error_of([&] { read_journal(folder / "none"); }),
            "cannot read the journal " + (folder / "none").string() + ": No such file or directory");
  EXPECT_THAT(test::error_of([&] { read_journal(folder.path()); }), StartsWith("cannot read the journal "));
}

TEST(ReportBuilder, ListsCasesAsPlannedThenTheUnplannedOnes) {
  ReportBuilder builder;
  builder.run(test::sample_run());
  builder.record(test::passed("unplanned"));
  builder.plan(infos_of({test::passed("a"), test::passed("b")}));
  builder.record(test::passed("b"));
  builder.record(test::passed("a"));
  std::vector<std::string> names;
  for (const Record& record : builder.report().records) names.push_back(record.info.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "unplanned"}));
}

TEST(ReportBuilder, TakesTheNewestRecordOfACase) {
  ReportBuilder builder;
  builder.record(test::failed("a"));
  builder.record(test::passed("a"));
  ASSERT_EQ(builder.report().records.size(), 1U);
  EXPECT_EQ(builder.report().records[0].status, Status::Pass);
}

TEST(ReportBuilder, KeepsTheModesOfACaseApart) {
  ReportBuilder builder;
  builder.plan(std::vector<RowInfo>{test::sample_case("a", "accu"), test::sample_case("a", "perf")});
  builder.record(test::timed("a", "fused", 1));
  ASSERT_EQ(builder.report().records.size(), 2U);
  EXPECT_EQ(builder.report().records[0].status, Status::Missing);
  EXPECT_EQ(builder.report().records[1].status, Status::Pass);
}

TEST(ReportBuilder, BlamesTheCaseThatWasBegunAgain) {
  ReportBuilder builder;
  builder.record(test::passed("a"));
  builder.begin(test::sample_case("a"));
  EXPECT_EQ(builder.report().records[0].status, Status::Crash);
}

TEST(ReportBuilder, IsCompleteOnlyWhenTheEndCameLast) {
  ReportBuilder builder;
  EXPECT_FALSE(builder.report().complete);
  builder.run(test::sample_run());
  builder.end();
  EXPECT_TRUE(builder.report().complete);
  builder.begin(test::sample_case("resumed"));
  EXPECT_FALSE(builder.report().complete);
}

TEST(ReportBuilder, KeepsTheNameOfTheRunItGoesOnWith) {
  ReportBuilder builder;
  builder.run(test::sample_run());
  RunInfo resumed = test::sample_run();
  resumed.run_id = "later";
  builder.run(resumed);
  EXPECT_EQ(builder.report().run.run_id, test::sample_run().run_id);
}

}  // namespace
}  // namespace assay
