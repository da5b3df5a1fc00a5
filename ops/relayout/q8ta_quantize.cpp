#include "ops/relayout/q8ta_conversion.h"
#include "references/relayout/relayout.h"

namespace assay::ops {

Op q8ta_quantize() {
  return q8ta_conversion({.name = "q8ta_quantize",
                          .summary = "real to int8x4 values, one scale and zero point for all",
                          .label = "quantize",
                          .integers = "y",
                          .reference = references::q8ta_quantize});
}

}  // namespace assay::ops
