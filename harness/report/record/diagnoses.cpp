#include "harness/report/record/diagnoses.h"

#include <algorithm>
#include <stdexcept>

namespace assay {
namespace {

constexpr std::array table = {
    DiagnosisWords{ErrorKind::Unwritten, "unwritten", "never written",
                   "nothing stores them: they hold what was there before",
                   "the grid (workgroups, folding), an early return, the condition around the store"},
    DiagnosisWords{
        ErrorKind::Nan, "nan", "NaN", "they are NaN where a number is expected",
        "0 / 0, infinity - infinity, a root or logarithm of a negative number, memory not written"},
    DiagnosisWords{ErrorKind::Sign, "sign", "sign",
                   "their sign is flipped, or signed integers were read as unsigned",
                   "a minus, the order of a subtraction, sign extension where bytes are unpacked"},
    DiagnosisWords{
        ErrorKind::Clamp, "clamp", "clamp",
        "the expected value is at an end of the range, or the answer stops short of it",
        "the ends of the clamp, its place before or after the zero point, a relu that is left out"},
    DiagnosisWords{
        ErrorKind::Packing, "packing", "packing",
        "lanes of a word, quad or texel, bytes, halves or nibbles are in another order; a nibble is "
        "swapped, or used twice",
        "shifts of packing and unpacking, swizzles, which nibble comes first"},
    DiagnosisWords{
        ErrorKind::Layout, "layout", "layout",
        "they hold what is expected at a transposed place, with the stride of rows for columns, or at "
        "the place of another layout",
        "the layout that the kernel was given, the order of strides, a transposition in registers"},
    DiagnosisWords{
        ErrorKind::Index, "index", "index", "they hold what is expected at a neighbour or at one other place",
        "an offset of one, a stride, padding or dilation, a batch or row that is left out of an index"},
    DiagnosisWords{ErrorKind::ZeroPoint, "zero_point", "zero point",
                   "they look as if a zero point had another value, or was left out",
                   "where that zero point is added or subtracted, which tensor it belongs to, and its sign"},
    DiagnosisWords{ErrorKind::Scale, "scale", "scale",
                   "they look as if a scale or factor had another value, or was left out",
                   "where that scale is multiplied, its reciprocal, the number of steps of the range"},
    DiagnosisWords{
        ErrorKind::Block, "block", "block",
        "they look as if they were made with another block's, channel's, row's or group's parameters",
        "the index into scales and zero points, how often they are reloaded"},
    DiagnosisWords{ErrorKind::Edge, "edge", "edge",
                   "they lie at the edges of images, or padding does not stand for real zero",
                   "the value that stands for places outside the image: it is the zero point, not 0"},
    DiagnosisWords{
        ErrorKind::Accumulation, "accumulation", "accumulation",
        "they are sums in which some terms are missing: a tail, half of the reduction, a tap, the bias",
        "the bounds of the loop along K, its tail, slabs, groups, taps, the bias, a barrier"},
    DiagnosisWords{ErrorKind::Rounding, "rounding", "rounding",
                   "they are off by one, in one direction, among elements that are right",
                   "roundEven where round, floor, trunc or an added half stands; the order of operations"},
    DiagnosisWords{ErrorKind::Tail, "tail", "tail",
                   "only the last rows, columns, channels, lanes or batches are wrong",
                   "sizes that are not a multiple of a tile, word or vector; the last workgroup"},
};

}  // namespace

std::span<const DiagnosisWords> known_diagnoses() {
  return table;
}

std::string_view name_of(ErrorKind kind) {
  const auto* found = std::ranges::find(table, kind, &DiagnosisWords::kind);
  if (found == table.end()) throw std::logic_error("name_of: not a kind of error");
  return found->word;
}

std::string_view diagnosis_name(std::string_view word) {
  const auto* found = std::ranges::find(table, word, &DiagnosisWords::word);
  return found == table.end() ? word : found->name;
}

}  // namespace assay
