#pragma once

#include "harness/engine/supervision/device_supervisor.h"
#include "harness/engine/supervision/fake_worker_test_support.h"

#include <fmt/format.h>

#include <csignal>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// A supervisor without processes and without a clock: tests provide its worker's lines, its end and the time.

namespace assay::test {

/// Collects how rows ended: "3 CRASH REPRODUCED".
struct SupervisedEnds final : RunListener {
  void run(const RunInfo&) override { ++runs; }
  void plan(std::span<const RowInfo> rows) override { planned += rows.size(); }
  void begin(RowIndex row) override { begun.push_back(row); }
  void judged(RowIndex, const AccuracyResult&) override {}
  void block(RowIndex, const Block&) override { ++blocks; }
  void end(RowIndex row, const RowEnd& end) override {
    ends.push_back(
        fmt::format("{} {}{}{}", row, name_of(end.status), end.retry.empty() ? "" : " ", end.retry));
    reasons.push_back(end.reason);
    driver_retries.push_back(end.driver_retry);
  }
  void done() override {}

  int runs = 0;
  std::size_t planned = 0;
  std::vector<RowIndex> begun;
  int blocks = 0;
  std::vector<std::string> ends;
  std::vector<std::string> reasons;
  std::vector<std::string> driver_retries;
};

/// A supervisor of `rows` rows, and the lines that its worker may send.
struct SupervisorBench {
  explicit SupervisorBench(std::size_t rows, SupervisionStart start = {})
      : row_count(rows), supervisor(worker, heard, std::move(start)) {
    supervisor.begin();
    open();
  }

  void open(const std::string& prefix = "row") {
    JournalLines lines;
    lines.run({.device = {.name = "mock", .uuid = "1"}});
    std::vector<RowInfo> plan(row_count);
    for (std::size_t i = 0; i < row_count; ++i)
      plan[i] = {.id = fmt::format("{}/{}", prefix, i), .mode = "accu"};
    lines.plan(plan);
    say(lines);
  }
  void say(const JournalLines& lines) {
    for (const std::string& line : lines.lines) supervisor.line(line);
  }
  void begin(RowIndex row) {
    JournalLines lines;
    lines.begin(row);
    say(lines);
  }
  void judge(RowIndex row, const std::string& hash) {
    JournalLines lines;
    lines.judged(row, {.output_hash = hash});
    say(lines);
  }
  void block(RowIndex row, int round) {
    JournalLines lines;
    lines.block(row, {.round = round, .samples_ns = {1}});
    say(lines);
  }
  void end(RowIndex row, Status status = Status::Pass) {
    JournalLines lines;
    lines.end(row, {.status = status, .reason = status == Status::Pass ? "" : "as it said"});
    say(lines);
  }
  void pass(RowIndex row) {
    begin(row);
    end(row);
  }
  void idle() { supervisor.line(encode(WorkerEvent{WorkerSignal::Idle})); }
  void crash() { supervisor.ended({.signal = SIGSEGV}); }
  /// The rows of the last request.
  std::vector<RowIndex> asked() const {
    const auto& left = std::get<RowsLeft>(worker.sent.back());
    std::vector<RowIndex> rows;
    for (RowIndex row = 0; row < left.wanted.size(); ++row) {
      if (left.wanted[row]) rows.push_back(row);
    }
    return rows;
  }
  bool is_told_to_stop() const { return std::holds_alternative<StopRequest>(worker.sent.back()); }

  std::size_t row_count;
  FakeWorker worker;
  SupervisedEnds heard;
  DeviceSupervisor supervisor;
};

}  // namespace assay::test
