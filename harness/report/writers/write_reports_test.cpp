#include "harness/base/error.h"
#include "harness/report/writers/writers.h"
#include "tests/support/records.h"
#include "tests/support/report_text.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <set>
#include <sys/resource.h>

namespace assay {
namespace {

using nlohmann::json;

std::set<std::string> files_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

TEST(RunJson, TellsTheCircumstancesAndTheTotals) {
  RunReport report = test::report_of(test::all_kinds());
  report.complete = false;
  report.cut_off = true;
  const json file = json::parse(run_json(report));
  EXPECT_EQ(file.at("run_id"), "20260102T030405Z-1a2b3c");
  EXPECT_EQ(file.at("device").at("name"), "Acme GPU 9");
  EXPECT_EQ(file.at("device").at("features"),
            json::parse(R"(["storageBuffer8BitAccess", "VK_NV_cooperative_matrix"])"));
  EXPECT_EQ(file.at("environment").at("VK_DRIVER_FILES"), "icd.json");
  EXPECT_EQ(file.at("seed"), 18446744073709551615ULL);
  EXPECT_EQ(file.at("complete"), false);
  EXPECT_EQ(file.at("journal_cut_off"), true);
  EXPECT_EQ(file.at("cases"), report.records.size());
  EXPECT_EQ(file.at("statuses").at("PASS"), 4);
  EXPECT_EQ(file.at("statuses").at("FAIL"), 4);
  EXPECT_EQ(file.at("statuses").size(), 16U);
}

TEST(RunJson, IsValidWithNastyText) {
  RunReport report = test::report_of({});
  report.run.cpu = test::nasty;
  report.run.environment = {{test::nasty, test::nasty}};
  EXPECT_TRUE(json::accept(run_json(report)));
}

TEST(WriteReports, WritesAllOfThemAndNothingElse) {
  const test::TemporaryFolder folder;
  const RunReport report = test::report_of(test::all_kinds());
  const std::filesystem::path target = folder / "new/device";
  write_reports(target, report);
  write_reports(target, report);
  EXPECT_EQ(files_in(target), (std::set<std::string>{"accu.csv", "history.csv", "junit.xml", "perf.csv",
                                                     "perf.json", "run.json"}));
  EXPECT_EQ(test::read_file(target / "accu.csv"), test::accu_csv(report));
  EXPECT_EQ(test::read_file(target / "perf.csv"), test::perf_csv(report));
  EXPECT_EQ(test::read_file(target / "history.csv"), test::history_csv(report));
  EXPECT_EQ(test::read_file(target / "perf.json"), test::perf_json(report));
  EXPECT_EQ(test::read_file(target / "junit.xml"), test::junit_xml(report));
  EXPECT_EQ(test::read_file(target / "run.json"), run_json(report));
}

TEST(WriteReports, KeepsTheOldReportWhenTheDiskIsFull) {
  const test::TemporaryFolder folder;
  write_reports(folder.path(), test::report_of({test::passed("a")}));
  const std::string before = test::read_file(folder / "accu.csv");
  // A cap on the size of files stands for a disk that fills up in the middle.
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limited{before.size() + 10, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limited);
  const std::string message = test::error_of([&] {
    write_reports(folder.path(), test::report_of({test::passed("a"), test::passed("b")}));
  });
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(message, "cannot write " + (folder / "accu.csv").string() + ": File too large");
  EXPECT_EQ(test::read_file(folder / "accu.csv"), before);
  EXPECT_EQ(files_in(folder.path()).count("accu.csv.tmp"), 0U);
}

TEST(WriteReports, NamesThePlaceThatCannotBeWritten) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "file", "in the way");
  EXPECT_EQ(test::error_of([&] { write_reports(folder / "file", test::report_of({})); }),
            "cannot create the folder " + (folder / "file").string() + ": Not a directory");
  std::filesystem::create_directories(folder / "out/perf.csv/in_the_way");
  try {
    write_reports(folder / "out", test::report_of({}));
    ADD_FAILURE() << "a folder was overwritten";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Infrastructure);
    EXPECT_EQ(error.what(), "cannot write " + (folder / "out/perf.csv").string() + ": Is a directory");
  }
}

}  // namespace
}  // namespace assay
