#pragma once

#include "harness/op/expected.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// One wrong element, and the inputs that it depends on.
struct WrongElement {
  std::vector<std::int64_t> at;  ///< tensor coordinates
  double expected = 0;
  double got = 0;
  double bound = 0;
  bool unwritten = false;  ///< nothing was written there: `got` has no meaning
  double relative = 0;     ///< error over |expected|; 0: the expected value is 0, or not finite
  double ulp = 0;          ///< floats: the error in units of the last place of the expected value
  std::optional<double>
      before_rounding;  ///< the reference's value before rounding, if known, zero point included
  /// The input elements that it depends on, if they are few, in order: "x[0,3]=1.5", "scale[0]=0.25".
  std::vector<std::string> made_from;
};

/// The kind of error that the wrong elements of an output show, derived from their values and places.
struct Diagnosis {
  std::string word;  ///< one of known_diagnoses() (words.h)
  std::string text;  ///< a sentence that explains the word here: "got is expected + 3, the zero point of y"
  double share = 0;  ///< share of the wrong elements that it explains, 0.9 to 1
};

/// One of the different answers of a row that was run many times.
struct ReplayedAnswer {
  std::string hash;
  bool right = false;
  int runs = 0;  ///< that gave this answer
};

/// How a row's answer varies over runs of the same program on the same inputs (--replay).
struct Replay {
  int runs = 0;
  int wrong = 0;  ///< runs with a wrong answer, or that wrote where they may not
  int hot_runs = 0,
      hot_wrong = 0;  ///< those on a device that had been kept busy; the others had rested before
  std::vector<ReplayedAnswer> answers;  ///< the different ones, the most frequent first; at most 16
  int more_answers = 0;                 ///< different answers beyond these
};

/// The accuracy of the answer: describes the worst output of the case.
struct AccuracyResult {
  std::string output;
  OutputClass output_class = OutputClass::Exact;
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;
  double max_abs_err = 0;
  double err_over_bound = 0;  ///< share of the bound that was spent; 0 for a perfect exact output
  std::int64_t flips = 0;     ///< banded: accepted off-by-ones
  double expected_flips = 0;
  /// The failed check, one of: "", "wrong_value", "unwritten", "write_out_of_bounds", "depends_on_padding",
  /// "reads_out_of_bounds", "reads_uninitialized", "depends_on_old_output", "nondeterministic",
  /// "input_modified", "scratch_not_zero", "too_many_flips"; or the reason why a right answer proves little
  /// (MISTRUSTED): the trivial answer that would pass, "all_zeros", "constant", "copied_input" or "shifted",
  /// or "saturated".
  std::string metric;
  std::vector<std::int64_t> first_bad;  ///< tensor coordinates of the first bad element
  double expected = 0;
  double got = 0;
  double bound = 0;
  std::string
      tolerance;  ///< tolerance of the case beyond the output's class, "abs=0.5 share=0.001"; or empty
  std::string tolerance_reason;  ///< the reason that the case gives for it
  std::string missed;  ///< the expected answer that was missed: "file", "reference" or "file and reference"
  std::optional<WrongElement> first;  ///< the first wrong element
  std::optional<WrongElement> worst;  ///< the element with the largest error, if it is not the first
  std::optional<Diagnosis> diagnosis;
  std::string tile_map;           ///< lines of a small picture that shows where the errors lie
  std::string input_hash;         ///< hash of the logical inputs
  std::string output_hash;        ///< hash of the logical outputs, without padding
  bool hash_is_portable = false;  ///< every output is exact: the hash must be equal on all devices
  /// What of the memory around buffers a stray write would be seen in: "both" sides, or for a kernel that
  /// knows of no guards by tensor, "x=after y=none". Empty: no buffer is bound.
  std::string guards;
  std::string matrix_extension;  ///< whose matrices the kernels multiply: "KHR", "NV"; empty: none do
  double reference_ms = 0;
  double gpu_ms = 0;  ///< wall time of upload, runs and download
  std::int64_t memory_bytes = 0;
  std::optional<Replay> replay;  ///< with --replay
};

}  // namespace assay
