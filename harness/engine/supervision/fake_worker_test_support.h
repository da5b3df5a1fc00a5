#pragma once

#include "harness/engine/supervision/protocol.h"
#include "harness/engine/supervision/worker_process.h"
#include "harness/report/journal/codec.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::test {

/// A worker without a process: it records what the supervisor does to it.
struct FakeWorker : Worker {
  void start() override { ++started; }
  void send(std::string_view line) override { sent.push_back(decode_request(line)); }
  void kill() override { is_killed = true; }
  std::string last_words() const override { return words; }
  std::string name() const override { return "process 7"; }

  int started = 0;
  bool is_killed = false;
  std::string words;
  std::vector<WorkerRequest> sent;
};

/// Collects events as the lines that a journal would have.
struct JournalLines final : EventLines {
  void line(std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

}  // namespace assay::test
