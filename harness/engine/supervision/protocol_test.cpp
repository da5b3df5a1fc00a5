#include "harness/engine/supervision/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

template <class T>
T through_request(const T& request) {
  return std::get<T>(decode_request(encode(WorkerRequest{request})));
}

TEST(Protocol, OpensWithWhatTheCommandLineSays) {
  const OpenRequest open = through_request(OpenRequest{.command = {"assay", "run", "a b\n"},
                                                       .run_id = "20260102T030405Z-1a2b3c",
                                                       .directory = "/tmp",
                                                       .device = 1,
                                                       .uuid = "00ff",
                                                       .jobs = 3,
                                                       .timer = TimerCalibration{.unit_ns = 40},
                                                       .ceilings = Ceilings{.fp32_gops = 12}});
  EXPECT_THAT(open.command, ElementsAre("assay", "run", "a b\n"));
  EXPECT_EQ(open.run_id, "20260102T030405Z-1a2b3c");
  EXPECT_EQ(open.directory, "/tmp");
  EXPECT_EQ(open.device, 1U);
  EXPECT_EQ(open.uuid, "00ff");
  EXPECT_EQ(open.jobs, 3);
  EXPECT_EQ(open.timer.value().unit_ns, 40);
  EXPECT_EQ(open.ceilings.value().fp32_gops, 12);
}

TEST(Protocol, LeavesOutWhatAnEarlierWorkerHasNotMeasured) {
  const OpenRequest open = through_request(OpenRequest{});
  EXPECT_FALSE(open.timer.has_value());
  EXPECT_FALSE(open.ceilings.has_value());
}

TEST(Protocol, RefusesAnotherVersion) {
  EXPECT_THAT([] { decode_request(R"({"request":"open","protocol":999})"); },
              ThrowsMessage<Error>(HasSubstr("version 999")));
}

TEST(Protocol, CarriesRowsAndHowFarTheyHaveCome) {
  RowsLeft rows{.wanted = {true, false, true, true, false}};
  rows.progress[2] = {"abc", {{.round = 3, .batch = 7, .samples_ns = {1.5, 2}}}};
  const RowsLeft read = through_request(rows);
  EXPECT_THAT(read.wanted, ElementsAre(true, false, true, true));
  ASSERT_EQ(read.progress.size(), 1U);
  EXPECT_EQ(read.progress.at(2).output_hash, "abc");
  ASSERT_EQ(read.progress.at(2).blocks.size(), 1U);
  EXPECT_EQ(read.progress.at(2).blocks.front().round, 3);
  EXPECT_THAT(read.progress.at(2).blocks.front().samples_ns, ElementsAre(1.5, 2));
}

TEST(Protocol, TellsAllRowsFromNone) {
  EXPECT_TRUE(through_request(RowsLeft{}).wanted.empty());
  EXPECT_THAT(through_request(RowsLeft{.wanted = {false, false}}).wanted, ElementsAre(false));
}

TEST(Protocol, TellsWhetherRowsMayBePreparedAhead) {
  EXPECT_TRUE(through_request(RowsLeft{}).may_prepare);
  RowsLeft one_by_one;
  one_by_one.may_prepare = false;
  EXPECT_FALSE(through_request(one_by_one).may_prepare);
}

TEST(Protocol, RefusesRowsThatNoPlanHas) {
  EXPECT_THAT([] { decode_request(R"({"request":"rows","rows":[[5,2]]})"); },
              ThrowsMessage<Error>(HasSubstr("no rows 5 to 2")));
  EXPECT_THAT([] { decode_request(R"({"request":"rows","rows":[[0,9999999999999]]})"); },
              ThrowsMessage<Error>(HasSubstr("no rows")));
}

TEST(Protocol, CarriesTheWorkersEvents) {
  const auto phase = decode_worker_event(encode(WorkerEvent{PhaseEvent{Phase::Compile, 12.5}}));
  EXPECT_EQ(std::get<PhaseEvent>(phase.value()).phase, Phase::Compile);
  EXPECT_EQ(std::get<PhaseEvent>(phase.value()).limit_s, 12.5);
  const auto idle = decode_worker_event(encode(WorkerEvent{WorkerSignal::Idle}));
  EXPECT_EQ(std::get<WorkerSignal>(idle.value()), WorkerSignal::Idle);
  const auto refused = decode_worker_event(encode(WorkerEvent{RefusedEvent{"no device", 77}}));
  EXPECT_EQ(std::get<RefusedEvent>(refused.value()).code, 77);
  const auto full = decode_worker_event(encode(WorkerEvent{CannotGoOnEvent{"the disk is full"}}));
  EXPECT_EQ(std::get<CannotGoOnEvent>(full.value()).text, "the disk is full");
  const auto devices = decode_worker_event(
      encode(WorkerEvent{DevicesEvent{{{.info = {.name = "llvmpipe"}, .slug = "lavapipe"}}}}));
  EXPECT_EQ(std::get<DevicesEvent>(devices.value()).devices.at(0).info.name, "llvmpipe");
}

TEST(Protocol, LeavesTheJournalsEventsToTheJournal) {
  EXPECT_FALSE(decode_worker_event(R"({"event":"begin","row":3})").has_value());
}

TEST(Protocol, RefusesGarbage) {
  for (const char* line : {"garbage", "[1]", R"({"worker":"dance"})", R"({"worker":"phase","phase":"x"})"})
    EXPECT_THROW(decode_worker_event(line), Error) << line;
  EXPECT_THROW(decode_worker_event(""), Error);
  EXPECT_THROW(decode_request(R"({"request":"dance"})"), Error);
}

}  // namespace
}  // namespace assay
