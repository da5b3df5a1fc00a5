#include "harness/report/journal/checked_journal.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/report/journal/codec.h"
#include "harness/report/journal/journal.h"
#include "harness/report/record/record.h"
#include "harness/report/record/record_of.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay {
namespace {

/// The state of a row that the checks need. It is kept small, as a journal may have many rows.
struct RowSoFar {
  std::string id;
  std::string mode;
  std::string mode_words;
  bool begun = false;
  bool ended = false;
  bool goes_on = false;               ///< its end was an interruption: it is resumed if it begins again
  std::optional<std::string> metric;  ///< once judged
  std::string output_hash;
  int blocks = 0;
  std::int64_t next_round = 0;
  int batch = 0;

  /// Same rules as RowEvents::begin().
  void begin() {
    if (ended && !goes_on) *this = {.id = id, .mode = mode, .mode_words = mode_words};
    ended = false;
    begun = true;
  }
  void judge(const AccuracyResult& accuracy) {
    metric = accuracy.metric;
    if (!blocks_still_count(output_hash, accuracy.output_hash)) {
      blocks = 0;
      next_round = 0;
    }
    output_hash = accuracy.output_hash;
  }
};

void check_block(const RowSoFar& row, const Block& block) {
  if (row.ended || !row.begun) throw Contradiction("it has a block while it does not run");
  if (block.skipped < 0 || block.round != row.next_round + block.skipped) {
    throw Contradiction(
        fmt::format("its block {} stands where block {} should", block.round, row.next_round));
  }
  if (row.blocks > 0 && row.batch != block.batch) {
    throw Contradiction(fmt::format("'batch' is {} and was {} in the block before", block.batch, row.batch));
  }
  if (block.samples_ns.empty()) throw Contradiction("'samples_ns' is empty: a block has a sample");
  for (const double ns : block.samples_ns) {
    if (!(ns > 0) || !std::isfinite(ns))
      throw Contradiction("'samples_ns' holds " + shortest(ns) + ", which is not a time");
  }
}

void check_end(const RowSoFar& row, const RowEnd& end) {
  if (row.ended) throw Contradiction("it ends twice");
  const bool passed = end.status == Status::Pass;
  if (passed && !row.begun) throw Contradiction("it passed without having begun");
  if (passed && row.mode == "perf" && !end.perf)
    throw Contradiction("a row of mode perf passed and has no time");
  if (passed && row.mode == "accu" && !row.metric)
    throw Contradiction("a row of mode accu passed and was not judged");
  if (passed && row.metric && !row.metric->empty())
    throw Contradiction("the row passed, but its accuracy says '" + printable(*row.metric) + "'");
  if (end.perf && row.blocks == 0) throw Contradiction("it has a time but no sample");
}

/// Throws at the first event that contradicts those before it.
class Checker final : public RunListener {
 public:
  void run(const RunInfo&) override {}
  void plan(std::span<const RowInfo> rows) override {
    for (const RowInfo& info : rows) {
      if (!keys_.insert(key_of(info)).second) {
        throw Contradiction(
            fmt::format("{} ({}) is planned twice", printable(info.id), printable(mode_words(info))));
      }
      rows_.push_back({.id = info.id, .mode = info.mode, .mode_words = mode_words(info)});
    }
  }
  void begin(RowIndex index) override { rows_[index].begin(); }
  void judged(RowIndex index, const AccuracyResult& accuracy) override { rows_[index].judge(accuracy); }
  void block(RowIndex index, const Block& block) override {
    about(index, [&](const RowSoFar& row) { check_block(row, block); });
    rows_[index].batch = block.batch;
    ++rows_[index].blocks;
    rows_[index].next_round = std::int64_t{block.round} + 1;
  }
  void end(RowIndex index, const RowEnd& end) override {
    about(index, [&](const RowSoFar& row) { check_end(row, end); });
    rows_[index].ended = true;
    rows_[index].goes_on = goes_on_after(end.status);
  }
  void done() override {
    for (const RowSoFar& row : rows_) {
      if (row.ended) continue;
      throw Contradiction("the run is complete, but " + printable(row.id) + " (" + printable(row.mode_words) +
                          ") has no end: lines are missing");
    }
  }

 private:
  void about(RowIndex index, const std::function<void(const RowSoFar&)>& check) const {
    const RowSoFar& row = rows_[index];
    try {
      check(row);
    } catch (const Contradiction& error) {
      throw Contradiction("the record of " + printable(row.id) + " (" + printable(row.mode_words) +
                          ") contradicts itself: " + error.what() + "; no run writes such a record");
    }
  }

  std::deque<RowSoFar> rows_;
  std::set<RowKey> keys_;
};

}  // namespace

RunReport read_checked_journal(const std::filesystem::path& path) {
  Checker checker;
  return read_journal(path, checker);
}

}  // namespace assay
