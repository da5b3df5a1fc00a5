#pragma once

#include "harness/report/record.h"

#include <string>

namespace assay {

/// What is wrong with an answer, as a sentence: "wrong value at [0,3,7,2]: expected 12, got 13 (bound 0); 42
/// of 1536 elements (2.7 %)". Empty when nothing is. It is fit for Record::reason of FAIL and MISTRUSTED.
std::string describe(const AccuracyResult& accuracy);

/// A failure as people read it, in lines: status and id, place, reason, the largest error, the tile map, the
/// repro line. Plain text; JUnit and the console share it.
std::string failure_text(const Record& record);

/// Whether the record's time may be shown: it was measured, and the timed answer was not wrong.
bool has_time(const Record& record);

}  // namespace assay
