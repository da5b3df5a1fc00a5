#include "harness/report/journal/journal.h"

#include "harness/base/error.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/journal/report_builder.h"
#include "harness/report/writers/writers.h"
#include "tests/support/report_text.h"
#include "tests/support/tell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace assay {
namespace {

using test::infos_of;
using test::tell;
using test::tell_row;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string all_reports(const RunReport& report) {
  return test::accu_csv(report) + test::perf_csv(report) + test::perf_json(report) + perf_console(report) +
         test::junit_xml(report) + run_json(report);
}

ExitCode code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::Fine;
}

// Limits the size of files that this process may write, as a full disk does.
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
    listener->begin(0);
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
  tell(journal, {test::passed("a"), test::timed("b", "fused", 2)});
  const std::string text = test::read_file(journal.path());
  // run, plan; begin, judged, end; begin, two blocks, end; done
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_THAT(text, StartsWith(R"({"event":"run","schema":3,)"));
  EXPECT_THAT(text, HasSubstr("\n{\"event\":\"plan\",\"first\":0,\"rows\":[{\"id\":\"shuffle/a/"));
  EXPECT_THAT(
      text,
      HasSubstr("\n{\"event\":\"begin\",\"row\":0}\n{\"event\":\"judged\",\"row\":0,\"output\":\"y\","));
  EXPECT_THAT(
      text,
      HasSubstr("\n{\"event\":\"block\",\"row\":1,\"round\":1,\"batch\":10,\"samples_ns\":[20000,40000]}\n"));
  EXPECT_THAT(
      text, HasSubstr("\n{\"event\":\"end\",\"row\":1,\"status\":\"PASS\",\"perf\":{\"stop\":\"interval\","));
  EXPECT_THAT(text, ::testing::EndsWith("\n{\"event\":\"done\"}\n"));
}

TEST(Journal, NamesARowOnceAndKeepsNoFigureTwice) {
  const test::TemporaryFolder folder;
  Journal journal(folder / "journal.jsonl");
  Record record = test::timed("a", "fused", 2);
  record.repro = repro_line(test::sample_run(), record.info);
  tell(journal, {record});
  const std::string text = test::read_file(journal.path());
  const std::string& id = record.info.id;
  EXPECT_EQ(text.find(id), text.rfind(id)) << "events name their row by its index";
  for (const char* computed : {"time_us_p50", "ci_pct", "spread_pct", "sample_us", "assay run --filter"})
    EXPECT_EQ(text.find(computed), text.npos) << computed;
  for (const char* initial : {"\"tune\"", "\"reason\"", "\"mismatches\"", "\"retry\"", "\"repro\""})
    EXPECT_EQ(text.find(initial), text.npos) << initial;
}

TEST(Journal, KeepsWhatWasRecordedBeforeAKill) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  const pid_t child = ::fork();
  if (child == 0) {
    Journal journal(path);
    journal.run(test::sample_run());
    journal.plan(
        std::vector<RowInfo>{test::sample_case("a"), test::sample_case("b"), test::sample_case("c")});
    tell_row(journal, 0, test::passed("a"));
    journal.begin(1);
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

TEST(Journal, KeepsTheBlocksOfRowsThatAKillFoundTakingTurns) {
  const test::TemporaryFolder folder;
  Journal journal(folder / "journal.jsonl");
  journal.run(test::sample_run());
  journal.plan(infos_of({test::timed("a", "fused", 2), test::timed("b", "fused", 3)}));
  const Block block{.round = 0, .batch = 10, .samples_ns = {20000, 20032}};
  for (const RowIndex row : {0U, 1U}) {
    journal.begin(row);
    journal.judged(row, *test::passed("a").accuracy);
  }
  for (const RowIndex row : {1U, 0U}) {
    journal.begin(row);
    journal.block(row, block);
  }
  journal.begin(1);  // it ends here
  const std::string text = test::read_file(journal.path());
  EXPECT_THAT(text, HasSubstr("\"block\",\"row\":0,\"round\":0,\"batch\":10,\"samples_ns\":[20000,20032]}"));
  EXPECT_THAT(text, HasSubstr("\"block\",\"row\":1,"));
  const RunReport report = read_journal(journal.path());
  EXPECT_EQ(report.records[0].status, Status::Missing);
  EXPECT_EQ(
      report.records[0].reason,
      "not finished: the run ended while another case, which shares its data or its timing, was running");
  EXPECT_EQ(report.records[1].status, Status::Crash);
  for (const Record& record : report.records)
    EXPECT_FALSE(record.perf.has_value()) << "not sampled to its end";
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
    for (std::size_t i = 0; i <= last; ++i) builder.begin(turns[i]);
    const RunReport report = builder.report();
    for (std::size_t row = 0; row < 3; ++row)
      EXPECT_EQ(report.records[row].status, row == turns[last] ? Status::Crash : Status::Missing) << last;
    if (last > 0) {
      EXPECT_EQ(
          report.records[1 - turns[last]].reason,
          "not finished: the run ended while another case, which shares its data or its timing, was running");
    }
    EXPECT_EQ(report.records[2].reason, "not reached: the run ended before it");
  }
}

TEST(Journal, BlamesNobodyBetweenTheRecordsOfRowsThatWereTimedTogether) {
  ReportBuilder builder;
  builder.run(test::sample_run());
  const std::vector<Record> records = {test::timed("a", "fused", 1), test::timed("b", "fused", 1)};
  builder.plan(infos_of(records));
  builder.begin(0);
  tell_row(builder, 1, records[1]);
  EXPECT_EQ(builder.report().records[0].status, Status::Missing);
  EXPECT_EQ(builder.report().records[1].status, Status::Pass);
}

TEST(Journal, IsReadableWhereverItIsCutOff) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  {
    Journal journal(path);
    tell(journal, {test::passed("a"), test::failed("b"), test::timed("c", "fused", 2)});
  }
  const std::string whole = test::read_file(path);
  const auto cut_off_at = [&](std::size_t size) {
    std::filesystem::resize_file(path, size);
    return read_journal(path);
  };
  const std::size_t run_line = whole.find('\n') + 1;
  const std::size_t plan_line = whole.find('\n', run_line) + 1;
  const auto place_of = [&](const std::string& start) { return whole.find('\n', whole.find(start)) + 1; };
  // From the end on, so that the file only has to be shortened.
  for (std::size_t size = whole.size() - 1; size >= plan_line; --size) {
    const RunReport report = cut_off_at(size);
    EXPECT_FALSE(report.complete) << size;
    EXPECT_EQ(report.cut_off, whole[size - 1] != '\n') << size;
    ASSERT_EQ(report.records.size(), 3U) << size;
    for (std::size_t row = 0; row < report.records.size(); ++row) {
      const std::string number = std::to_string(row);
      const bool begun = size >= place_of(R"({"event":"begin","row":)" + number);
      const bool ended = size >= place_of(R"({"event":"end","row":)" + number);
      const Status last = row == 1 ? Status::Fail : Status::Pass;
      EXPECT_EQ(report.records[row].status, ended   ? last
                                            : begun ? Status::Crash
                                                    : Status::Missing)
          << "row " << row << " after " << size << " bytes";
    }
  }
  for (std::size_t size = plan_line - 1; size >= run_line; --size) {
    EXPECT_THAT(test::error_of([&] { cut_off_at(size); }),
                StartsWith(path.string() + ":1: the journal ends here without a plan"));
  }
  for (std::size_t size = run_line; size-- > 0;) {
    EXPECT_EQ(
        test::error_of([&] { cut_off_at(size); }),
        path.string() + ": the journal does not name its run: it is empty or ended before the run began");
  }
}

TEST(Journal, GoesOnAfterTheLastWholeLine) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  {
    Journal journal(path);
    journal.run(test::sample_run());
    journal.plan(infos_of({test::passed("a"), test::passed("b")}));
    tell_row(journal, 0, test::passed("a"));
  }
  // A line longer than what is read at once when the end is looked for.
  test::write_file(path, test::read_file(path) + R"({"event":"end","reason":")" + std::string(10000, 'x'));
  ASSERT_TRUE(read_journal(path).cut_off);
  {
    Journal journal(path, true);
    tell_row(journal, 1, test::passed("b"));
    journal.done();
  }
  const RunReport report = read_journal(path);
  EXPECT_TRUE(report.complete);
  EXPECT_FALSE(report.cut_off);
  ASSERT_EQ(report.records.size(), 2U);
  EXPECT_EQ(report.records[1].info.name, "b");
  EXPECT_EQ(report.records[1].status, Status::Pass);
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
  first.plan(infos_of({test::passed("a")}));
  const std::string message = test::error_of([&] { Journal second(folder / "journal.jsonl"); });
  EXPECT_THAT(message, HasSubstr("another run is writing it"));
  EXPECT_EQ(read_journal(first.path()).run.run_id, test::sample_run().run_id)
      << "the first run's line is gone";
}

TEST(Journal, WaitsForOneWhoOnlyLooksWhetherItIsWritten) {
  const test::TemporaryFolder folder;
  { Journal written(folder / "journal.jsonl"); }
  FileDescriptor looking(::open((folder / "journal.jsonl").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(looking.get(), LOCK_SH), 0);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    looking.close();
  });
  EXPECT_NO_THROW(Journal(folder / "journal.jsonl"));
  other.join();
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
  journal.plan(infos_of({test::passed("a")}));
  const std::string before = test::read_file(journal.path());
  std::string message;
  {
    const FileSizeLimit limit(before.size() + 100);
    message = test::error_of([&] { journal.judged(0, *test::failed("a").accuracy); });
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

/// A journal of one row that has not ended yet, in folder/device.
struct RunningJournal {
  RunningJournal() {
    journal.run(test::sample_run());
    const std::vector<RowInfo> plan{test::passed("a").info};
    journal.plan(plan);
    journal.begin(0);
  }
  /// The error of the row's end.
  std::string end() {
    return test::error_of([&] { journal.end(0, {.status = Status::Skipped, .reason = "because"}); });
  }

  test::TemporaryFolder folder;
  std::filesystem::path path = folder / "device/journal.jsonl";
  Journal journal{path};
};

TEST(Journal, IsSavedByTheNextEventIfItWasRemoved) {
  RunningJournal one;
  std::filesystem::remove(one.path);
  EXPECT_THAT(one.end(), AllOf(HasSubstr(one.path.string() + " was removed while the run wrote it"),
                               HasSubstr("`assay run --resume` runs the rest")));
  const std::string saved = test::read_file(one.path);
  EXPECT_EQ(read_journal(one.path).records.at(0).status, Status::Skipped) << "the event itself is saved too";
  EXPECT_THAT(test::error_of([&] { one.journal.done(); }), HasSubstr("was removed")) << "it stays an error";
  EXPECT_EQ(test::read_file(one.path), saved);
}

TEST(Journal, IsSavedIfItsFolderWasRemoved) {
  RunningJournal one;
  std::filesystem::remove_all(one.path.parent_path());
  EXPECT_THAT(one.end(), HasSubstr("was removed while the run wrote it"));
  EXPECT_EQ(read_journal(one.path).records.at(0).status, Status::Skipped);
}

TEST(Journal, SaysWhereItIsIfItOrItsFolderWasMoved) {
  RunningJournal one;
  std::filesystem::rename(one.path, one.folder / "elsewhere.jsonl");
  EXPECT_THAT(one.end(), HasSubstr("was moved to " + (one.folder / "elsewhere.jsonl").string() + " while"));
  EXPECT_EQ(read_journal(one.folder / "elsewhere.jsonl").records.at(0).status, Status::Skipped);
  EXPECT_FALSE(std::filesystem::exists(one.path));

  RunningJournal other;
  std::filesystem::rename(other.path.parent_path(), other.folder / "moved");
  EXPECT_THAT(other.end(), HasSubstr("was moved to " + (other.folder / "moved/journal.jsonl").string()));
  EXPECT_EQ(read_journal(other.folder / "moved/journal.jsonl").records.at(0).status, Status::Skipped);
}

TEST(Journal, IsSavedNextToAFileThatReplacedIt) {
  RunningJournal one;
  std::filesystem::remove(one.path);
  one.folder.write("device/journal.jsonl", "mine");
  EXPECT_THAT(one.end(), AllOf(HasSubstr("was replaced by another file"),
                               HasSubstr(one.path.string() + ".saved, so move that back")));
  EXPECT_EQ(test::read_file(one.path), "mine");
  EXPECT_EQ(read_journal(one.path.string() + ".saved").records.at(0).status, Status::Skipped);
}

TEST(Journal, SaysSoIfItCannotBeSaved) {
  RunningJournal one;
  std::filesystem::remove_all(one.path.parent_path());
  one.folder.write("device", "a file is where its folder was");
  EXPECT_THAT(one.end(), AllOf(HasSubstr("its events are lost: "), HasSubstr("Not a directory")));
}

TEST(Journal, DoesNotFollowALink) {
  const test::TemporaryFolder folder;
  folder.write("precious", "precious");
  std::filesystem::create_symlink("precious", folder / "journal.jsonl");
  const auto through_a_link = [&] { Journal journal(folder / "journal.jsonl"); };
  EXPECT_THAT(test::error_of(through_a_link), HasSubstr("it is a link"));
  EXPECT_EQ(code_of(through_a_link), ExitCode::Infrastructure);
  EXPECT_EQ(folder.read("precious"), "precious");
}

TEST(IsBeingWritten, WhileAProcessHasTheJournalOpen) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(is_being_written(folder / "journal.jsonl")) << "there is none";
  {
    const Journal journal(folder / "journal.jsonl");
    EXPECT_TRUE(is_being_written(folder / "journal.jsonl"));
  }
  EXPECT_FALSE(is_being_written(folder / "journal.jsonl"));
  const Journal again(folder / "journal.jsonl", true);  // to have looked leaves no lock
  EXPECT_TRUE(is_being_written(folder / "journal.jsonl"));
}

}  // namespace
}  // namespace assay
