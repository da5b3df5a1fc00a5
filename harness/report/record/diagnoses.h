#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace assay {

/// What kind of error the wrong elements of an output are.
enum class ErrorKind : std::uint8_t {
  Unwritten,
  Nan,
  Sign,
  Clamp,
  Packing,
  Layout,
  Index,
  ZeroPoint,
  Scale,
  Block,
  Edge,
  Accumulation,
  Rounding,
  Tail
};

/// The word of a kind: "zero_point".
std::string_view name_of(ErrorKind kind);

/// A kind of error in words.
struct DiagnosisWords {
  ErrorKind kind;
  std::string_view word;     ///< Diagnosis::word, "zero_point"
  std::string_view name;     ///< as people read it, "zero point"
  std::string_view meaning;  ///< what is so of the wrong elements
  std::string_view advice;   ///< where to look
};
std::span<const DiagnosisWords> known_diagnoses();

/// "zero point" of "zero_point"; a word that is not known is its own name.
std::string_view diagnosis_name(std::string_view word);

}  // namespace assay
