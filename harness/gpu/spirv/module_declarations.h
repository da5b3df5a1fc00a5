#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::gpu {

/// A specialization constant that a SPIR-V module declares.
struct DeclaredConstant {
  std::uint32_t id = 0;  ///< its SpecId: GLSL's `constant_id`
  std::string name;      ///< as in GLSL; empty if it has none there, like the workgroup's sizes
  friend bool operator==(const DeclaredConstant&, const DeclaredConstant&) = default;
};

/// All specialization constants that the module declares, used or not, sorted by id. glslang writes their
/// names (OpName) even without debug information. Throws Error when the words up to the first function are no
/// SPIR-V module or a constant is not 32 bits wide, the only width that a Dispatch can set.
std::vector<DeclaredConstant> declared_constants(std::span<const std::uint32_t> words);

/// The type of one number in a block, or of a specialization constant.
struct NumberType {
  enum class Kind : std::uint8_t { Signed, Unsigned, Float, Boolean };
  Kind kind = Kind::Signed;
  std::uint32_t bits = 32;
  friend bool operator==(const NumberType&, const NumberType&) = default;
};

/// Returns "int", "uint", "float" or "bool", with the bits if they are not 32: "float16", "int64".
std::string type_text(NumberType type);

/// One number of a block, which may lie in structures, arrays, vectors and matrices.
struct BlockMember {
  std::string path;      ///< by names: "size.x", "strides[2]"; an unnamed member is its index
  std::string numbered;  ///< by indices alone: "0.1", "3[2]"
  std::uint32_t offset = 0;
  NumberType type;
  friend bool operator==(const BlockMember&, const BlockMember&) = default;
};

/// A storage buffer, uniform block, image or texture that a module declares, used or not.
struct DeclaredVariable {
  std::uint32_t set = 0, binding = 0;
  std::vector<std::string> names;    ///< its own, its block's, and of a block's only member, as far as known
  bool asks_length = false;          ///< an instruction asks for the length of its runtime array
  bool is_uniform = false;           ///< a uniform block
  std::vector<BlockMember> members;  ///< of a uniform block
};

struct SpecializationConstant {
  std::uint32_t id = 0;  ///< GLSL's `constant_id`
  std::string name;      ///< as in GLSL; "local_size_x", "_y" or "_z" for a workgroup's size without name
  NumberType type;
  friend bool operator==(const SpecializationConstant&, const SpecializationConstant&) = default;
};

/// What a module declares for those who call it, from any compiler, with or without names.
struct ModuleDeclarations {
  std::vector<DeclaredVariable> variables;        ///< by set and binding; several may share one
  std::vector<BlockMember> push;                  ///< by offset
  std::vector<SpecializationConstant> constants;  ///< by id
};

/// The largest number of members in a block; one with more is an error.
inline constexpr std::size_t most_block_members = 4096;

/// The declarations with `specialization` (value by constant_id; the others have their defaults), on which
/// lengths of arrays may depend. Throws Error when the words are no SPIR-V module, or a block has too many
/// members.
ModuleDeclarations declarations_of(std::span<const std::uint32_t> words,
                                   const std::map<std::uint32_t, std::uint32_t>& specialization = {});

}  // namespace assay::gpu
