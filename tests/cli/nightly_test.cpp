#include "tests/cli/sample_cases.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/wait.h>
#include <thread>

// scripts/farm/nightly.sh in a package whose binary only writes down what it is told, and does what a file
// says.

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* fake_assay = R"sh(#!/bin/bash
echo "$*" >>calls
case $1 in
  devices)
    [[ $* == *--json* ]] || exit 0
    echo '['
    echo '{"index":0,"name":"Acme \"Fast\" 1","slug":"acme-fast-1","uuid":"aa","driver":"acme 1"},'
    uuid=bb
    [[ ! -e same_uuid ]] || uuid=aa
    echo '{"index":1,"name":"Slow","slug":"slow","uuid":"'$uuid'","driver":"slow 2"}'
    echo ']'
    ;;
  run)
    if [[ $* == *--dry-run* ]]; then
      sed -i '$d' calls # is no part of the night
      echo "$*" >dry_run
      [[ -e no_rows ]] || echo 'a run would have 2 rows for each device'
      [[ ! -e refuses ]] || { cat refuses >&2; exit 2; }
      exit
    fi
    while (($#)); do
      [[ $1 != --out && $1 != --resume ]] || out=$2
      shift
    done
    mkdir -p "$out/runs/1/x"
    echo '{"event":"plan"}' >"$out/runs/1/x/journal.jsonl"
    trap 'echo TERM >>stopped; exit 3' TERM
    touch started
    if [[ -e slow ]]; then for ((i = 0; i < 600; ++i)); do sleep 0.1; done; fi
    [[ ! -e kill ]] || kill -KILL $$
    exit "$(cat run_exits 2>/dev/null || echo 0)"
    ;;
  merge)
    slug=$(basename "$(dirname "$3")")
    [[ ! -e no_merge_of_$slug ]] || { echo 'mixed builds'; exit 2; }
    mkdir -p "$2/$slug" && touch "$2/$slug/journal.jsonl"
    ;;
  fuzz)
    while (($#)); do
      [[ $1 != --out ]] || out=$2
      shift
    done
    mkdir -p "$out/1"
    [[ ! -e fuzz_hangs_up ]] || exit 3
    echo 'fuzz: 81 points on X in 30 s, seed 1: no failure (81 PASS)'
    [[ ! -e fuzz_finds ]] || { echo 'op: x' >"$out/1/x_1.yaml" && exit 1; }
    ;;
  summary)
    ! grep -q damage "$2"/journal.jsonl || { echo "error: $2/journal.jsonl:1: not an event" >&2; exit 2; }
    ;;
  page) [[ ! -e page_warns ]] || { cat page_warns >&2; echo '<html>'; } ;;
  verdict)
    echo 'the verdict'
    [[ ! -e no_place_for_exit_code ]] || { rm -f "$2/exit_code.new" && mkdir "$2/exit_code.new"; }
    exit "$(cat verdict_exits 2>/dev/null || echo 0)"
    ;;
esac
)sh";

class Nightly : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path scripts = fs::path(ASSAY_SOURCE_DIR) / "scripts/farm";
    fs::create_directories(package() / "scripts/farm");
    fs::copy_file(scripts / "nightly.sh", package() / "scripts/farm/nightly.sh");
    fs::copy(scripts / "night", package() / "scripts/farm/night");
    fs::permissions(folder.write("package/assay", fake_assay), fs::perms::owner_all);
  }

  fs::path package() const { return folder.path() / "package"; }
  fs::path farm() const { return folder.path() / "farm"; }
  /// A report of an earlier night of the device "slow", as a link of the folder of nights.
  fs::path report_of(const std::string& night, const std::string& journal,
                     const std::string& exit_code = "0\n") const {
    folder.write("farm/" + night + "/exit_code", exit_code);
    return folder.write("farm/" + night + "/slow/journal.jsonl", journal).parent_path();
  }
  void make_last_good(const fs::path& report) const {
    fs::create_directories(farm() / "last-good");
    fs::create_directory_symlink(report, farm() / "last-good/slow");
  }
  fs::path night() const { return fs::canonical(farm() / "latest"); }
  /// Has the fake do something: a file of this name with this text.
  void set(const std::string& name, const std::string& text = "") const {
    folder.write("package/" + name, text);
  }
  void unset(const std::string& name) const { fs::remove(package() / name); }
  std::vector<std::string> words(std::vector<std::string> more) const {
    more.insert(more.begin(), package() / "scripts/farm/nightly.sh");
    return more;
  }
  ProcessResult nightly(const std::vector<std::string>& more) const { return run({.words = words(more)}); }
  std::string calls() const { return read_file(package() / "calls"); }

  TemporaryFolder folder;
};

TEST_F(Nightly, DoesNotStartWithDevicesThatTasksCannotTellApart) {
  set("same_uuid");
  const ProcessResult result = nightly({farm()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("several devices have the UUID aa, by which tasks name them"));
  EXPECT_FALSE(fs::exists(farm() / "latest"));
}

TEST_F(Nightly, HelpIsNoError) {
  const ProcessResult result = nightly({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("scripts/farm/nightly.sh [OPTIONS] DIR"));
}

TEST_F(Nightly, FuzzesEachDeviceWithTheDateAsSeedAndFailsWithWhatItFinds) {
  EXPECT_EQ(nightly({"--fuzz", "30", farm()}).exit_code, 0);
  const std::string at = night();
  std::string date = night().filename().string().substr(0, 10);
  std::erase(date, '-');
  for (const auto& [slug, uuid] : {std::pair("acme-fast-1", "aa"), std::pair("slow", "bb")}) {
    EXPECT_THAT(calls(), HasSubstr(fmt::format(
                             "\nfuzz --device {} --seconds 30 --seed {} --keep-going --out {}/fuzz/{}\n",
                             uuid, date, at, slug)));
  }
  set("fuzz_finds");
  std::this_thread::sleep_for(std::chrono::seconds(1));  // a night's name has seconds
  const ProcessResult result = nightly({"--fuzz=30", farm()});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("FUZZ: 2 cases fail that no case file has"),
                                HasSubstr(night().string() + "/fuzz/slow/1/x_1.yaml\n")));
  EXPECT_EQ(read_file(night() / "exit_code"), "1\n");
}

TEST_F(Nightly, WhoseFuzzingDoesNotFinishIsNoAnswer) {
  set("fuzz_hangs_up");
  const ProcessResult result = nightly({"--fuzz", "30", farm()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("assay fuzz on slow ran no point to its end"));
  unset("fuzz_hangs_up");
  const ProcessResult resumed = nightly({"--resume", night()});
  EXPECT_EQ(resumed.exit_code, 0) << "it fuzzes again: " << resumed.err;
}

TEST_F(Nightly, RunsEachShardOfEachDeviceAndConcludes) {
  const ProcessResult result = nightly({"--shards", "2", farm(), "--", "--filter", "a b*"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "the verdict\n");
  const std::string at = night();
  const std::string store = "--ceiling-store " + at + "/ceilings";
  std::string expected = "devices --json\n";
  for (const auto& [slug, uuid] : {std::pair("acme-fast-1", "aa"), std::pair("slow", "bb")}) {
    expected += fmt::format("devices --device {} --ceilings {}\n", uuid, store);
    for (const int shard : {1, 2}) {
      expected += fmt::format(
          "run --device {0} --shard {1}/2 --out {2}/shards/{3}/{1} --overwrite {4} --filter a b*\n", uuid,
          shard, at, slug, store);
    }
  }
  for (const char* slug : {"acme-fast-1", "slow"})
    expected += fmt::format("merge {0} {0}/shards/{1}/1 {0}/shards/{1}/2\n", at, slug);
  expected += "verdict " + at + " --last-good " + farm().string() +
              "/last-good --expect-slug acme-fast-1 --expect-slug slow\n";
  EXPECT_EQ(calls(), expected);
  EXPECT_EQ(read_file(night() / "exit_code"), "0\n");
  EXPECT_THAT(read_file(night() / "console/slow.2.txt"), HasSubstr("--shard 2/2"));
}

TEST_F(Nightly, MeasuresNoCeilingsWhereNothingIsHeldAgainstThem) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--mode", "accu"}, {"--mode=accu"}, {"--ceilings", "none"}}) {
    std::vector<std::string> more{farm(), "--"};
    more.insert(more.end(), options.begin(), options.end());
    EXPECT_EQ(nightly(more).exit_code, 0);
    EXPECT_THAT(calls(), Not(HasSubstr("ceiling-store")));
    fs::remove_all(farm());
  }
}

TEST_F(Nightly, JudgesByWhatTwoRunsDifferByWhereThatIsKnown) {
  const fs::path noise = folder.write("farm/run-noise.csv", "");
  EXPECT_EQ(nightly({farm()}).exit_code, 0);
  EXPECT_THAT(calls(), HasSubstr(" --run-noise " + noise.string() + "\n"));
}

TEST_F(Nightly, GivesShardsTheTimesOfTheDevicesLastGoodNight) {
  make_last_good(report_of("old", "times"));
  EXPECT_EQ(nightly({"--shards=2", farm()}).exit_code, 0);
  const fs::path times = night() / "shards/slow/times";
  EXPECT_THAT(read_file(night() / "console/slow.1.txt"), HasSubstr("--balance " + times.string()));
  EXPECT_EQ(read_file(times / "journal.jsonl"), "times");
  EXPECT_THAT(read_file(night() / "console/acme-fast-1.1.txt"), Not(HasSubstr("--balance")));
}

TEST_F(Nightly, GoesOnByTheSameTimesAsItBegan) {
  make_last_good(report_of("old", "times"));
  EXPECT_EQ(nightly({"--shards=2", farm()}).exit_code, 0);
  fs::remove_all(farm() / "old");
  fs::remove_all(night() / "shards/slow/2");  // as if it had not begun
  unset("calls");
  EXPECT_EQ(nightly({"--resume", farm() / "latest"}).exit_code, 0);
  EXPECT_THAT(calls(), HasSubstr("--balance " + (night() / "shards/slow/times").string()));
}

TEST_F(Nightly, BalancesByTheGoodNightBeforeWhereTheLastOneIsDamaged) {
  report_of("2026-01-01T010000Z", "older times");
  report_of("2026-01-02T010000Z", "times");
  report_of("2026-01-03T010000Z", "times of a bad night", "1\n");
  const fs::path damaged = report_of("2026-01-04T010000Z", "damage");
  make_last_good(damaged);
  const ProcessResult result = nightly({"--shards=2", farm()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("warning: " + (farm() / "last-good/slow").string() +
                                    " is damaged and does not balance the shards of slow: journal.jsonl:1: "
                                    "not an event\n"));
  EXPECT_EQ(read_file(night() / "shards/slow/times/journal.jsonl"), "times");
  EXPECT_THAT(read_file(night() / "console/slow.1.txt"), HasSubstr("--balance"));
}

TEST_F(Nightly, RunsShardsWithoutTimesWhereNoneCanBeRead) {
  make_last_good(report_of("2026-01-01T010000Z", "damage"));
  EXPECT_EQ(nightly({"--shards=2", farm()}).exit_code, 0);
  EXPECT_FALSE(fs::exists(night() / "shards/slow/times"));
  EXPECT_THAT(read_file(night() / "console/slow.2.txt"), Not(HasSubstr("--balance")));
}

TEST_F(Nightly, ChoosesDamagedTimesAgainWhenANightIsResumed) {
  make_last_good(report_of("2026-01-01T010000Z", "times"));
  EXPECT_EQ(nightly({"--shards=2", farm()}).exit_code, 0);
  const fs::path times = night() / "shards/slow/times/journal.jsonl";
  write_file(times, "damage");
  ProcessResult result = nightly({"--resume", farm() / "latest"});
  EXPECT_THAT(result.err, HasSubstr("the shards that have not begun cannot be run. Run their rows"))
      << "shards that ran were divided by the old times";
  EXPECT_EQ(read_file(times), "damage");
  for (const char* shard : {"1", "2"}) fs::remove_all(night() / "shards/slow" / shard);
  unset("calls");
  result = nightly({"--resume", farm() / "latest"});
  EXPECT_EQ(read_file(times), "times");
  EXPECT_THAT(calls(), HasSubstr("--balance " + times.parent_path().string()));
}

TEST_F(Nightly, PassesOnWarningsAboutThePage) {
  set("page_warns", "warning: old/journal.jsonl is left out: damaged\n");
  fs::create_directories(farm() / "2026-01-01T010000Z");
  fs::create_directory_symlink("nowhere", farm() / "2026-01-01T010000Z/slow");
  const ProcessResult result = nightly({farm()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("warning: old/journal.jsonl is left out: damaged\n"));
}

TEST_F(Nightly, EndsWithTheCodeOfTheVerdictWhateverTheTasksEndedWith) {
  for (const char* code : {"1", "3", "0"}) {
    set("run_exits", "1");
    set("verdict_exits", code);
    EXPECT_EQ(nightly({farm()}).exit_code, std::stoi(code));
    EXPECT_EQ(read_file(night() / "exit_code"), std::string(code) + "\n");
    fs::remove_all(farm());
  }
}

TEST_F(Nightly, IsInfrastructureWhereADeviceHasNoReport) {
  set("no_merge_of_slow");
  const ProcessResult result = nightly({farm()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("the reports of Slow could not be merged (exit code 2)"),
                                HasSubstr("mixed builds")));
  EXPECT_EQ(result.out, "the verdict\n") << "the other device has one";
  EXPECT_THAT(calls(), HasSubstr(" --keep-last-good slow "));
}

TEST_F(Nightly, IsInfrastructureWhereItsFolderCannotBeWritten) {
  const fs::path below_a_file = folder.write("file", "text") / "farm";
  ProcessResult result = nightly({below_a_file});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("the folder of the nights, cannot be written"));
  fs::create_directories(farm() / "lock");
  result = nightly({farm()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("the folder of the nights, cannot be written"));
}

TEST_F(Nightly, IsInfrastructureWhereTheExitCodeCannotBeWritten) {
  for (const char* code : {"0", "1"}) {
    set("verdict_exits", code);
    set("no_place_for_exit_code");
    const ProcessResult result = nightly({farm()});
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.out, "the verdict\n");
    EXPECT_THAT(result.err, HasSubstr("exit_code could not be written"));
    fs::remove_all(farm());
  }
}

TEST_F(Nightly, IsInfrastructureWhereAnyCommandFails) {
  fs::create_directories(package() / "bin");
  fs::create_symlink("/bin/false", package() / "bin/ln");
  const std::string path = (package() / "bin").string() + ":" + std::getenv("PATH");
  const ProcessResult result = run({.words = words({farm()}), .environment = {{"PATH", path}}});
  EXPECT_EQ(result.exit_code, 3) << "1 would say that rows failed";
  EXPECT_THAT(result.err, HasSubstr("a command failed"));
}

TEST_F(Nightly, GoesOnWithTasksThatWereKilled) {
  set("kill");
  EXPECT_EQ(nightly({"--shards", "2", "--keep", "3", farm(), "--", "--tier", "ci"}).exit_code, 0);
  unset("kill");
  unset("calls");
  fs::remove_all(night() / "shards/slow/2");  // as if it had not begun
  EXPECT_EQ(nightly({"--resume", farm() / "latest"}).exit_code, 0);
  const std::string shards = night() / "shards/";
  const std::string store = " --ceiling-store " + (night() / "ceilings").string() + "\n";
  EXPECT_THAT(calls(), AllOf(HasSubstr("run --resume " + shards + "acme-fast-1/1" + store),
                             HasSubstr("run --resume " + shards + "slow/1" + store),
                             HasSubstr("--shard 2/2 --out " + shards + "slow/2 "), HasSubstr(" --tier ci\n"),
                             HasSubstr("prune " + farm().string() + " --keep 3 --shards\n")));
}

TEST_F(Nightly, GivesAgainWhatIsNeverTakenFromAJournal) {
  set("kill");
  EXPECT_EQ(nightly({farm(), "--", "--tier", "ci", "--dump", "some where", "--answer-cache=none", "--ops",
                     "mine", "--ops=yours"})
                .exit_code,
            0);
  unset("kill");
  unset("calls");
  EXPECT_EQ(nightly({"--resume", farm() / "latest"}).exit_code, 0);
  EXPECT_THAT(calls(), HasSubstr("/ceilings --dump some where --answer-cache=none --ops mine --ops=yours\n"));
  EXPECT_THAT(calls(), Not(HasSubstr("--tier")));
}

TEST_F(Nightly, IsRefusedBesideAnother) {
  set("slow");
  const int pid = start({.words = words({farm()})});
  for (int i = 0; i < 3000 && !fs::exists(package() / "started"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const ProcessResult second = nightly({farm()});
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_THAT(second.err, HasSubstr("another nightly.sh holds"));
  ::kill(pid, SIGTERM);
  int status = 0;
  ::waitpid(pid, &status, 0);
  unset("slow");
  fs::remove(farm() / "latest");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // a night a second
  EXPECT_EQ(nightly({farm()}).exit_code, 0) << "the lock is free again";
}

TEST_F(Nightly, PassesSignalsOnToTheRunAndConcludes) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    set("slow");
    set("verdict_exits", "3");
    const int pid = start({.words = words({farm()})});
    for (int i = 0; i < 3000 && !fs::exists(package() / "started"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ::kill(pid, signal);
    int status = 0;
    ::waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 3);
    EXPECT_EQ(read_file(package() / "stopped"), "TERM\n") << "once, and no other task began";
    EXPECT_THAT(calls(), AllOf(HasSubstr("verdict"), Not(HasSubstr("shards/slow"))));
    for (const char* name : {"started", "stopped", "calls"}) unset(name);
    fs::remove_all(farm());
  }
}

TEST_F(Nightly, SaysHowToResumeANightThatASignalEnded) {
  set("slow");
  const int pid = start({.words = {"/bin/bash", "-c", R"(exec "$0" "$1" 2>said)",
                                   (package() / "scripts/farm/nightly.sh").string(), farm().string()},
                         .directory = folder.path()});
  for (int i = 0; i < 3000 && !fs::exists(package() / "started"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::kill(pid, SIGTERM);
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_THAT(read_file(folder.path() / "said"),
              HasSubstr("to run the rest and conclude it again: " +
                        (package() / "scripts/farm/nightly.sh").string() + " --resume " + night().string()));
}

TEST_F(Nightly, RefusesOptionsThatEveryTaskWouldRefuse) {
  set("refuses", "--tier: smok not in {smoke,ci,nightly}\n");
  set("no_rows");
  const ProcessResult result = nightly({"--shards", "2", farm(), "--", "--tier", "smok"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("--tier: smok not in {smoke,ci,nightly}\n"),
                    HasSubstr("nightly: assay run refuses its options (--tier smok), see above")));
  EXPECT_EQ(result.out, "") << "there is no verdict";
  EXPECT_THAT(read_file(package() / "dry_run"), HasSubstr("--shard 1/2 "));
  EXPECT_EQ(calls(), "");
  EXPECT_FALSE(fs::exists(farm() / "latest"));
}

TEST_F(Nightly, RefusesThemInTheWordsOfTheBinary) {
  for (const auto& [option, value, why] :
       {std::tuple("--tier", "smok", "smok"), std::tuple("--filter", "no/such/*", "none of "),
        std::tuple("--budgt", "1", "--budgt"), std::tuple("--shaders", "nowhere", "nowhere"),
        std::tuple("--shard", "1/2", "--shard")}) {
    folder.write("package/cases/c.yaml", shuffle_cases);
    const ProcessResult result =
        run({.words = words({farm(), "--", option, value}), .environment = {{"ASSAY", ASSAY_BINARY}}});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(why));
    EXPECT_FALSE(fs::exists(farm() / "latest"));
  }
}

TEST_F(Nightly, ACaseFileWithAnErrorDoesNotStopIt) {
  set("refuses", "cases/view.yaml:3:1: error: unknown key\n");
  const ProcessResult result = nightly({farm()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("cases/view.yaml:3:1: error: unknown key\n"));
}

TEST_F(Nightly, RefusesWhatItDoesNotKnow) {
  using Words = std::vector<std::string>;
  for (const auto& [more, why] :
       {std::pair(Words{}, "DIR is missing"), std::pair(Words{"a", "b"}, "there are two folders"),
        std::pair(Words{"--shards", "0", "a"}, "--shards takes a number"),
        std::pair(Words{"--time-limit", "8h", "a"}, "--time-limit takes a number"),
        std::pair(Words{"--filter", "x", "a"}, "come after --"),
        std::pair(Words{"a", "--shards"}, "--shards needs a value"),
        std::pair(Words{"--resume", "a", "--", "--op", "x"}, "the night was started with"),
        std::pair(Words{"--resume", farm()}, "is not the folder of a night")}) {
    const ProcessResult result = nightly(more);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(why));
  }
  EXPECT_FALSE(fs::exists(farm()));
}

}  // namespace
}  // namespace assay::test
