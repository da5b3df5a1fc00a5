#pragma once

// Every member of a record, also those that reports compute and no journal holds. Only tests include this.

#include "harness/report/journal/record_fields.h"

namespace assay {

template <class Visit>
void fields(Visit& visit, Is<Comparison> auto& x) {
  visit("baseline", x.baseline);
  visit("ratio", x.ratio);
  visit("ratio_low", x.ratio_low);
  visit("ratio_high", x.ratio_high);
  visit("blocks", x.blocks);
  visit("note", x.note);
}

template <class Visit>
void fields(Visit& visit, Is<Record> auto& x) {
  visit("case", x.info);
  visit("status", x.status);
  visit("reason", x.reason);
  visit("retry", x.retry);
  visit("driver_retry", x.driver_retry);
  visit("stopped", x.stopped);
  visit("own_end", x.own_end);
  visit("accuracy", x.accuracy);
  visit("perf", x.perf);
  visit("chain", x.chain);
  visit("comparison", x.comparison);
  visit("validation_messages", x.validation_messages);
  visit("validation_texts", x.validation_texts);
  visit("repro", x.repro);
  visit("total_ms", x.total_ms);
  visit("spent", x.spent);
}

}  // namespace assay

namespace assay::test {

/// Visits the members that record_of computes.
template <class Visit>
void computed_fields(Visit& visit, PerfResult& x) {
  visit("time_us_min", x.time_us_min);
  visit("time_us_p25", x.time_us_p25);
  visit("time_us_p50", x.time_us_p50);
  visit("time_us_p75", x.time_us_p75);
  visit("time_us_mean", x.time_us_mean);
  visit("time_us_stdev", x.time_us_stdev);
  visit("spread_pct", x.spread_pct);
  visit("ci_pct", x.ci_pct);
  visit("blocks", x.blocks);
  visit("samples", x.samples);
  visit("batch", x.batch);
  visit("output_hash", x.output_hash);
  visit("sample_us", x.sample_us);
}

/// Visits the members of a struct as `fields` does, and the computed ones as well.
template <class Visit, class T>
void all_fields(Visit& visit, T& x) {
  fields(visit, x);
  if constexpr (std::same_as<T, PerfResult>) computed_fields(visit, x);
}

}  // namespace assay::test
