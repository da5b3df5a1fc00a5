#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace assay {

/// The kind of error that the wrong elements of an output show.
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

/// The word for a kind: "zero_point".
std::string_view name_of(ErrorKind kind);

/// The words that reports use for a kind of error.
struct DiagnosisWords {
  ErrorKind kind;
  std::string_view word;     ///< Diagnosis::word, "zero_point"
  std::string_view name;     ///< as people read it, "zero point"
  std::string_view meaning;  ///< what the wrong elements have in common
  std::string_view advice;   ///< where to look
};
std::span<const DiagnosisWords> known_diagnoses();

/// "zero point" for "zero_point"; an unknown word is its own name.
std::string_view diagnosis_name(std::string_view word);

}  // namespace assay
