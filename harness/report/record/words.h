#pragma once

#include "harness/report/record/block.h"
#include "harness/report/record/record.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace assay {

/// The kind of error that the wrong elements of an output show.
enum class ErrorKind : std::uint8_t {
  Unwritten,
  Nan,
  Sign,
  Clamp,
  Packing,
  Layout,
  Index,
  ZeroPoint,
  Scale,
  Block,
  Edge,
  Accumulation,
  Rounding,
  Tail
};

/// The word for a kind: "zero_point".
std::string_view name_of(ErrorKind kind);

/// The words that reports use for a kind of error.
struct DiagnosisWords {
  ErrorKind kind;
  std::string_view word;     ///< Diagnosis::word, "zero_point"
  std::string_view name;     ///< as people read it, "zero point"
  std::string_view meaning;  ///< what the wrong elements have in common
  std::string_view advice;   ///< where to look
};
std::span<const DiagnosisWords> known_diagnoses();

/// "zero point" for "zero_point"; an unknown word is its own name.
std::string_view diagnosis_name(std::string_view word);

/// The fewest blocks of samples that show how far a time varies. To judge speed, each side needs as many.
inline constexpr std::size_t fewest_blocks = 5;

/// A row that needs more than this, in percent, to show a difference is never called the same; a time with a
/// wider interval is imprecise.
inline constexpr double coarsest_pct = 10;

/// Why a time is imprecise, so that nothing should be decided from it: "only 3 blocks, of the 5 that are
/// needed". Empty: it is not.
std::string why_imprecise(const PerfResult& perf);

/// The words that reports use for a metric (AccuracyResult::metric).
struct MetricWords {
  std::string_view metric;    ///< "wrong_value"
  std::string_view name;      ///< "wrong value"
  std::string_view sentence;  ///< "wrong value at": precedes a place; "" for metrics without a place
};
std::span<const MetricWords> known_metrics();
/// "wrong value" for "wrong_value"; an unknown metric is its own name.
std::string metric_name(const std::string& metric);

/// A tensor's value as text: with nine digits, which distinguish any two float32 values; integers in full.
std::string value_text(double value);

/// "[0,3]: expected 12, got 13 (bound 0; relative error 0.0833333, 3 ulp; before rounding 12.5), from
/// x[0,3]=1.5, scale[0]=0.25"; "never written" stands for "got ..." if nothing was written.
std::string element_text(const WrongElement& element);

/// "zero point: as if ... (explains 97 % of the wrong elements)"; empty if there is no diagnosis.
std::string diagnosis_text(const AccuracyResult& accuracy);

/// "2 messages from the validation layer" and their texts, one per line; empty if there are none.
std::string layer_text(const Record& record);

/// The error of an answer as a sentence: "wrong value at [0,3,7,2]: expected 12, got 13 (bound 0); 42 of 1536
/// elements (2.7 %)". Empty if nothing is wrong.
std::string describe(const AccuracyResult& accuracy);

/// "wrong in 7 of 60 runs (11.7 %, 95 % interval 5.8 to 22.2 %): 5 of 30 on a busy device, 2 of 30 on a
/// rested one; 3 different answers: 1a2b3c4d5e6f in 53 runs, ...".
std::string replay_text(const Replay& replay);
/// Whether any run was wrong, or two answers differ.
bool varies(const Replay& replay);
/// The number of different answers, with that of the run before.
std::size_t different_answers(const Replay& replay);

/// A failure as lines for people: status and id, place, the error and its reason (the record's, or describe()
/// if it has none), the largest error, the tile map, the repro line. Plain text, used by JUnit and the
/// console.
std::string failure_text(const Record& record);

/// The program's share of the ceiling that it is nearer to, of the bandwidth or of the operations, in
/// percent; 0 if unknown. That one limits it, unless something else does, such as latency.
double percent_of_peak(const PerfResult& perf);

/// Operations of a program by its energy, in 10^9 operations per joule; 0: no energy was measured, or it does
/// none.
double gops_per_joule(const PerfResult& perf);

/// The time in us that a timed row would gain if it reached that ceiling, over all calls of its layer in a
/// step of its model; 0 if its share is unknown.
double us_to_gain(const Record& row);

/// Whether the record's time may be shown: it was measured, and the timed answer was right.
bool has_time(const Record& record);

}  // namespace assay
