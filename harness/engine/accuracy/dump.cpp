#include "harness/engine/accuracy/dump.h"

#include "harness/base/error.h"
#include "harness/base/hash.h"
#include "harness/tensor/npy/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <string_view>
#include <system_error>

namespace assay {
namespace {

HostTensor error_of(const HostTensor& got, const HostTensor& expected) {
  HostTensor error(DType::F64, got.shape());
  const std::span<double> values = error.as<double>();
  for (std::int64_t i = 0; i < got.numel(); ++i)
    values[static_cast<std::size_t>(i)] = got.at(i) - expected.at(i);
  return error;
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  errno = 0;
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  if (stream) return;
  throw DumpFailed(fmt::format("dumping a program: writing '{}': {}", file.string(), std::strerror(errno)));
}

void write_tensor(const std::filesystem::path& file, const HostTensor& tensor) try {
  write_npy(file, tensor);
} catch (const Error& error) {
  throw DumpFailed(fmt::format("dumping a tensor: {}", error.what()));
}

/// A label made fit for a file name.
std::string file_word(std::string label) {
  const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::ranges::replace_if(label, std::not_fn(is_plain), '-');
  return label;
}

std::string description(const Dispatch& dispatch, const std::string& spirv_hash) {
  std::string text =
      fmt::format("; {} ({})\n; shader {}\n", dispatch.label, name_of(dispatch.role), dispatch.shader);
  for (const Define& define : dispatch.defines)
    text += fmt::format("; #define {} {}\n", define.name, define.value);
  text += fmt::format("; {} workgroups of {} invocations\n", fmt::join(dispatch.workgroups, " x "),
                      fmt::join(dispatch.local_size, " x "));
  if (dispatch.subgroup_size != 0)
    text += fmt::format("; full subgroups of {} invocations\n", dispatch.subgroup_size);
  for (const SpecConstant& constant : dispatch.constants)
    text += fmt::format("; specialization constant {} = {}\n", constant.name, constant.value);
  for (std::size_t i = 0; i < dispatch.push.words().size(); ++i)
    text += fmt::format("; push constant word {} = {:#010x}\n", i, dispatch.push.words()[i]);
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    const Binding& binding = dispatch.bindings[i];
    const bool is_tensor = binding.resource.kind == Resource::Kind::Tensor;
    text += fmt::format("; binding {}: {} {}{}\n", i, is_tensor ? "tensor" : "scratch",
                        binding.resource.index, binding.is_sampled() ? ", through a sampler" : "");
  }
  return text + fmt::format("; SPIR-V {}\n\n", spirv_hash);
}

}  // namespace

std::filesystem::path dump_folder(const std::filesystem::path& root, std::string id) {
  std::ranges::replace(id, '/', '-');
  // Folder names are limited to 255 bytes; the hash keeps ids apart whose ends are cut off.
  constexpr std::size_t longest = 200;
  constexpr std::size_t digits = 12;
  if (id.size() > longest) id = id.substr(0, longest) + '-' + hash_hex(id).substr(0, digits);
  std::filesystem::path folder = root / id;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw DumpFailed(fmt::format("dumping a case: creating '{}': {}", folder.string(), error.message()));
  }
  return folder;
}

void dump_program(const std::filesystem::path& folder, const Program& program, gpu::ShaderLibrary& shaders) {
  for (std::size_t i = 0; i < program.dispatches.size(); ++i) {
    const Dispatch& dispatch = program.dispatches[i];
    const gpu::Spirv& spirv = shaders.compile(dispatch);
    // The disassembler does not know what the matrices become.
    Dispatch readable = dispatch;
    readable.defines = without_khr_matrices(dispatch.defines);
    std::string note = ask_for_khr_matrices(dispatch.defines)
                           ? "; its matrices become those of VK_KHR_cooperative_matrix for the driver\n"
                           : "";
    if (!dispatch.external)
      note += "; drivers but NVIDIA's also get modes of 16-bit floats, if it uses any (docs/devices.md)\n";
    write_text(folder / fmt::format("{}.{}.spvasm", i, file_word(dispatch.label)),
               description(dispatch, spirv.hash) + note + gpu::disassemble(shaders.compile(readable).words));
  }
}

void dump_tensors(const std::filesystem::path& folder, const Case& test_case, const DataSet& data,
                  const AccuracyOutcome& assessment) {
  std::size_t input = 0;
  std::size_t output = 0;
  for (const TensorSpec& spec : test_case.tensors) {
    if (spec.is_input()) {
      write_tensor(folder / (spec.name + ".npy"), data.inputs[input++]);
      continue;
    }
    if (assessment.has_outputs_of_nodes) continue;
    const HostTensor& got = (*assessment.outputs)[output];
    const HostTensor& expected = data.wanted(output);
    write_tensor(folder / (spec.name + ".got.npy"), got);
    write_tensor(folder / (spec.name + ".expected.npy"), expected);
    write_tensor(folder / (spec.name + ".error.npy"), error_of(got, expected));
    ++output;
  }
}

}  // namespace assay
