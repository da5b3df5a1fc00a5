#include "harness/report/record/codec.h"
#include "harness/report/record/journal.h"

namespace assay {

/// Keeps what was decoded.
class ReportBuilder::Store final : public RunListener {
 public:
  explicit Store(ReportBuilder& builder) : builder_(builder) {}

  void run(const RunInfo& info) override {
    // A resumed run keeps the name of the run that it goes on with.
    if (!builder_.run_) builder_.run_ = info;
    builder_.ended_ = false;
  }

  void plan(std::span<const RowInfo> cases) override {
    for (const RowInfo& info : cases) builder_.entry(info).planned = true;
    builder_.ended_ = false;
  }

  void begin(const RowInfo& info) override {
    Entry& entry = builder_.entry(info);
    entry.begun = true;
    entry.record.reset();
    builder_.running_ = static_cast<std::size_t>(&entry - builder_.entries_.data());
    builder_.ended_ = false;
  }

  void record(const Record& record) override {
    builder_.entry(record.info).record = record;
    builder_.ended_ = false;
  }

  void end() override { builder_.ended_ = true; }

 private:
  ReportBuilder& builder_;
};

namespace {

Record unfinished(const RowInfo& info, bool begun, bool running) {
  Record record;
  record.info = info;
  record.status = running ? Status::Crash : Status::Missing;
  record.reason = running ? "the run ended while this case was running"
                  : begun ? "not finished: the run ended while another case of its group was running"
                          : "not reached: the run ended before it";
  return record;
}

}  // namespace

ReportBuilder::Entry& ReportBuilder::entry(const RowInfo& info) {
  const auto [at, is_new] = index_.try_emplace(key_of(info), entries_.size());
  if (is_new) entries_.push_back({.info = info});
  return entries_[at->second];
}

void ReportBuilder::line(std::string_view line) {
  Store store(*this);
  decoder_.line(line, store);
}

void ReportBuilder::run(const RunInfo& info) {
  line(encode_run(info));
}
void ReportBuilder::plan(std::span<const RowInfo> cases) {
  line(encode_plan(cases));
}
void ReportBuilder::begin(const RowInfo& info) {
  line(encode_begin(info));
}
void ReportBuilder::record(const Record& record) {
  line(encode_record(record));
}
void ReportBuilder::end() {
  line(encode_end());
}

RunReport ReportBuilder::report() const {
  RunReport report;
  if (run_) report.run = *run_;
  report.complete = ended_ && !cut_off_;
  report.cut_off = cut_off_;
  report.records.reserve(entries_.size());
  for (const bool planned : {true, false}) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      if (entry.planned != planned) continue;
      report.records.push_back(entry.record ? *entry.record
                                            : unfinished(entry.info, entry.begun, running_ == i));
    }
  }
  return report;
}

}  // namespace assay
