#pragma once

#include "harness/report/record/record.h"

#include <span>
#include <string>
#include <string_view>

namespace assay {

/// A metric (AccuracyResult::metric) in words.
struct MetricWords {
  std::string_view metric;    ///< "wrong_value"
  std::string_view name;      ///< "wrong value"
  std::string_view sentence;  ///< "wrong value at": goes before a place; "" for those that name none
};
std::span<const MetricWords> known_metrics();
/// "wrong value" of "wrong_value"; a metric that is not known is its own name.
std::string metric_name(const std::string& metric);

/// A value of a tensor: with as many digits as tell two float32 values apart, nine; integers in full.
std::string value_text(double value);

/// "[0,3]: expected 12, got 13 (bound 0; relative error 0.0833333, 3 ulp; before rounding 12.5), from
/// x[0,3]=1.5, scale[0]=0.25"; "never written" where nothing was.
std::string element_text(const WrongElement& element);

/// "zero point: as if ... (explains 97 % of the wrong elements)"; empty where there is no diagnosis.
std::string diagnosis_text(const AccuracyResult& accuracy);

/// "2 messages of the validation layer" and their texts, a line each; empty where there are none.
std::string layer_text(const Record& record);

/// What is wrong with an answer, as a sentence: "wrong value at [0,3,7,2]: expected 12, got 13 (bound 0); 42
/// of 1536 elements (2.7 %)". Empty when nothing is.
std::string describe(const AccuracyResult& accuracy);

/// A failure as people read it, in lines: status and id, place, what is wrong and why (the record's reason,
/// or describe() where it has none), the largest error, the tile map, the repro line. Plain text; JUnit and
/// the console share it.
std::string failure_text(const Record& record);

/// The share of the device's ceiling that limits the program, in percent: of the operations' ceiling where
/// it is limited by operations, else of the bandwidth's; 0 where nothing is known of it.
double percent_of_peak(const PerfResult& perf);

/// Whether the record's time may be shown: it was measured, and the timed answer was not wrong.
bool has_time(const Record& record);

}  // namespace assay
