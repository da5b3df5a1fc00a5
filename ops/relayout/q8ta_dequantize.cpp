#include "ops/relayout/q8ta_conversion.h"
#include "references/relayout/relayout.h"

namespace assay::ops {

Op q8ta_dequantize() {
  return q8ta_conversion({.name = "q8ta_dequantize",
                          .summary = "int8x4 to real values, one scale and zero point for all",
                          .label = "dequantize",
                          .integers = "x",
                          .reference = references::q8ta_dequantize});
}

}  // namespace assay::ops
