#include "harness/base/text.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"
#include "harness/report/writers/column_parts.h"

#include <utility>

namespace assay {
namespace {

using Accuracy = const AccuracyResult&;

// A column that is empty in rows without accuracy.
template <class Get>
Column accuracy(std::string name, std::string unit, std::string meaning, Get get) {
  return {std::move(name), std::move(unit), std::move(meaning), [get](const RunInfo&, const Record& record) {
            return record.accuracy ? get(*record.accuracy) : std::string();
          }};
}

// A column that describes a wrong element, and is empty if there is none.
template <class Get>
Column wrong_element(std::string name, std::string unit, std::string meaning, Get get) {
  return accuracy(std::move(name), std::move(unit), std::move(meaning),
                  [get](const AccuracyResult& a) { return a.first_bad.empty() ? std::string() : get(a); });
}

std::string join_coordinates(const std::vector<std::int64_t>& coordinates) {
  std::string joined;
  for (const std::int64_t coordinate : coordinates) {
    if (!joined.empty()) joined += ' ';
    joined += std::to_string(coordinate);
  }
  return joined;
}

}  // namespace

Columns difference_columns() {
  return {
      accuracy("metric", "text", "what is wrong, such as wrong_value; absent if nothing is",
               [](Accuracy a) { return a.metric; }),
      accuracy("diagnosis", "text", "kind of error that explains the wrong elements, such as zero_point",
               [](Accuracy a) { return a.diagnosis ? a.diagnosis->word : ""; }),
      accuracy("diagnosis_text", "text", "the diagnosis in words, with the share that it explains",
               [](Accuracy a) { return diagnosis_text(a); }),
      accuracy("output", "text", "the output that the figures describe: the worst one",
               [](Accuracy a) { return a.output; }),
      accuracy("class", "text", "how the output is judged: exact, banded or bounded",
               [](Accuracy a) { return std::string(name_of(a.output_class)); }),
      accuracy("elements", "elements", "elements of the output",
               [](Accuracy a) { return std::to_string(a.elements); }),
      accuracy("mismatches", "elements", "elements that are wrong",
               [](Accuracy a) { return std::to_string(a.mismatches); }),
      accuracy("max_abs_err", "value", "largest absolute difference from the reference",
               [](Accuracy a) { return significant(a.max_abs_err, 6); }),
      accuracy("err_over_bound", "ratio",
               "largest share of an element's bound that was spent; above 1 is wrong",
               [](Accuracy a) { return significant(a.err_over_bound, 6); }),
      accuracy(
          "tie_differences", "elements", "banded: accepted differences of one at a rounding tie",
          [](Accuracy a) { return a.output_class == OutputClass::Banded ? std::to_string(a.flips) : ""; }),
      accuracy("expected_tie_differences", "elements", "banded: expected number of such differences",
               [](Accuracy a) {
                 return a.output_class == OutputClass::Banded ? significant(a.expected_flips, 6) : "";
               }),
      wrong_element("first_wrong_index", "coordinates",
                    "first wrong element, coordinates separated by blanks",
                    [](Accuracy a) { return join_coordinates(a.first_bad); }),
      wrong_element("expected", "value", "the expected value there, from the reference or the case's file",
                    [](Accuracy a) { return shortest(a.expected); }),
      wrong_element("got", "value", "the device's value there", [](Accuracy a) { return shortest(a.got); }),
      wrong_element("bound", "value", "largest absolute difference allowed there",
                    [](Accuracy a) { return shortest(a.bound); }),
      accuracy(
          "differs_from", "text",
          "what the outputs differ from: file (values of the case's file), reference, or file and reference",
          [](Accuracy a) { return a.missed; }),
      accuracy("tolerance", "text", "tolerance of the case beyond its output's class",
               [](Accuracy a) { return a.tolerance; }),
      accuracy("tolerance_reason", "text", "the case's reason for that tolerance",
               [](Accuracy a) { return a.tolerance_reason; }),
  };
}

Columns evidence_columns() {
  return {
      accuracy("input_hash", "hash", "hash of the logical inputs", [](Accuracy a) { return a.input_hash; }),
      accuracy("output_hash", "hash",
               "hash of the logical outputs, without padding; all NaNs count as equal, float32 below 2^-126 "
               "as zero",
               [](Accuracy a) { return a.output_hash; }),
      accuracy("hash_portable", "flag",
               "true: every output is exact and the hash must be equal on all devices",
               [](Accuracy a) { return flag(a.hash_is_portable); }),
      accuracy(
          "guards", "text",
          "where around a buffer's data a stray write is seen: both sides, or by tensor (after, none) for "
          "kernels that know of no guards",
          [](Accuracy a) { return a.guards; }),
      accuracy("reference_ms", "ms", "time of the CPU reference, or of reading its stored answer",
               [](Accuracy a) { return fixed(a.reference_ms, 3); }),
      accuracy("gpu_ms", "ms", "wall time of upload, runs and download",
               [](Accuracy a) { return fixed(a.gpu_ms, 3); }),
      accuracy("memory_bytes", "bytes", "device memory of the case, guards included",
               [](Accuracy a) { return std::to_string(a.memory_bytes); }),
      accuracy("replays", "number", "further runs of the row (--replay)",
               [](Accuracy a) { return a.replay ? std::to_string(a.replay->runs) : ""; }),
      accuracy("replays_wrong", "number", "those whose answer was wrong",
               [](Accuracy a) { return a.replay ? std::to_string(a.replay->wrong) : ""; }),
      accuracy("distinct_answers", "number", "different answers of these runs and the one before",
               [](Accuracy a) { return a.replay ? std::to_string(different_answers(*a.replay)) : ""; }),
  };
}

}  // namespace assay
