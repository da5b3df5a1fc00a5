#include "harness/core/timer_calibration.h"

namespace assay {

std::string_view name_of(TimerQuality quality) {
  switch (quality) {
    case TimerQuality::Good:
      return "good";
    case TimerQuality::Coarse:
      return "coarse";
    case TimerQuality::Broken:
      return "broken";
  }
  return "?";
}

}  // namespace assay
