#pragma once

#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/shader_interface.h"

#include <span>

namespace assay::gpu {

/// Holds what the shaders of a program declare against what the program gives them, before a driver sees
/// either: what they disagree about may crash one device and pass on another. `interfaces`: one a dispatch.
/// Throws Error, which names shader, dispatch, what is declared and what is given, where
/// - a shader uses what its dispatch does not bind, or binds as something else (buffer, image, sampler; the
///   image's dimensions and texels),
/// - the push constants or the workgroup size are not those of the dispatch,
/// - the dispatch says that it has less shared memory than the shader,
/// - a shader uses a capability of SPIR-V that does not compute (refused_capability()),
/// - a dispatch may write scratch that set-up wrote, or set-up reads scratch that it did not write,
/// - a shader writes an input or reads an output, reads scratch that nothing before it wrote, or writes
/// scratch
///   that it or a dispatch before it reads (`access`: of each tensor, empty: any);
/// and Unsupported where a shader has more shared memory than the device.
void check_interfaces(const Program& program, std::span<const Physical> tensors,
                      std::span<const ShaderInterface> interfaces, const DeviceInfo& device,
                      std::span<const TensorAccess> access = {});

}  // namespace assay::gpu
