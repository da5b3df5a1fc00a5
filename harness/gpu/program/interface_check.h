#pragma once

#include "harness/device/device_info.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/program/access_check.h"
#include "harness/gpu/spirv/shader_interface.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace assay::gpu {

/// What a module needs and the device does not have, with its name or both numbers: a feature for one of its
/// capabilities or execution modes (how floats are rounded, LocalSizeId), SPIR-V of its version, a workgroup
/// of its size, its push constants. Nothing if it can run.
std::optional<std::string> unmet_need(std::span<const std::uint32_t> words, const ShaderInterface& interface,
                                      const DeviceInfo& device);

/// Compares what a program's shaders declare with what the program gives them, before a driver sees either: a
/// mismatch may crash one device and pass on another. `interfaces` has one entry per dispatch, `access` one
/// per tensor (empty: what tensors and scratch are read and written for is not checked). Throws Error, which
/// names the shader, the dispatch, what is declared and what is given, when
/// - a shader uses a binding that its dispatch does not have or that differs (buffer, image or sampler; the
///   image's dimensions and texels),
/// - the push constants or the workgroup size differ from the dispatch's,
/// - a workgroup has 0 invocations in a dimension,
/// - the dispatch states less shared memory than the shader uses,
/// - a shader uses a SPIR-V capability that kernels may not have (refused_capability()),
/// - a dispatch may write scratch that set-up wrote, or set-up reads scratch that it has not written,
/// - a shader writes an input or reads an output, reads scratch that nothing before it wrote, or writes
///   scratch that it or an earlier dispatch reads; unless it joins results in such scratch, which only it
///   uses, after all that it does with its inputs (late_use_of_inputs()), and no later dispatch reads what it
///   wrote.
/// Without `late_use` none may join.
/// Throws Unsupported when a shader uses more shared memory than the device has.
void check_interfaces(const Program& program, std::span<const Physical> tensors,
                      std::span<const ShaderInterface> interfaces, const DeviceInfo& device,
                      std::span<const TensorAccess> access = {}, const LateUseOf& late_use = {});

}  // namespace assay::gpu
