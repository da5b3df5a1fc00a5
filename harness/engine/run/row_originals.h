#pragma once

#include "harness/engine/accuracy/originals.h"
#include "harness/engine/accuracy/packed_inputs.h"
#include "harness/engine/run/device_context.h"
#include "harness/engine/run/device_rows.h"

#include <memory>

namespace assay {

/// Makes originals of a row's tensors with these inputs; null when everything is to go through the host.
std::unique_ptr<Originals> originals_for(const DeviceRow& row, PackedInputs& inputs, DeviceContext& context);

/// Lets an experiment that waits to be timed keep its originals if there is room for them.
void keep_originals(Experiment& experiment, DeviceContext& context);

}  // namespace assay
