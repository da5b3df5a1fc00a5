#pragma once

#include "harness/engine/diagnosis/evidence.h"
#include "harness/tensor/form.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// A wrong order of a tensor's elements: at index i stands the element `from(i)`; -1: none.
struct ElementMap {
  enum class Kind : std::uint8_t { Neighbour, Lanes, Transposed } kind = Kind::Neighbour;
  std::string text;  ///< "the neighbour 1 further along dim 3"
  std::function<std::int64_t(std::int64_t)> from;
};

/// Maps that a wrong index, packing or layout would cause, the likeliest first. `form` is the tensor's;
/// without it only maps that do not depend on it.
std::vector<ElementMap> likely_maps(const Shape& shape, DType dtype, std::optional<Form> form);

/// The dim of which a layout packs four neighbours into a word, quad or texel; none if the shape does not
/// have it.
std::optional<std::size_t> packed_dim(const Shape& shape, Layout layout);

/// Maps within one dim: shifted by `delta`; index XOR `mask`; always `index`; reversed.
ElementMap shifted(const Shape& shape, std::size_t dim, std::int64_t delta);
ElementMap exchanged(const Shape& shape, std::size_t dim, std::int64_t mask, ElementMap::Kind kind);
ElementMap fixed_at(const Shape& shape, std::size_t dim, std::int64_t index);
ElementMap reversed(const Shape& shape, std::size_t dim);
/// Squares of `side` x `side` elements in two dims, each transposed.
ElementMap squares_transposed(const Shape& shape, std::size_t a, std::size_t b, std::int64_t side);
/// Row-major elements of a tensor with its dims in the order `order`, read as if they were in the shape's
/// order.
ElementMap dims_reordered(const Shape& shape, const std::vector<std::size_t>& order);
/// The inverse for a kernel's index: an element is read at the place that the strides of dims in the order
/// `order` give, a row's stride where a column's should stand.
ElementMap strided_in_order(const Shape& shape, const std::vector<std::size_t>& order);
/// Of every four groups of `group` indices along a dim, the second and the third are exchanged.
ElementMap middle_exchanged(const Shape& shape, std::size_t dim, std::int64_t group);
/// Memory of the form `true_form`, read or written as if it were in the layout `taken_for`. None if that
/// layout cannot hold the dtype or is the same.
std::optional<ElementMap> in_another_layout(const Shape& shape, DType dtype, Form true_form,
                                            Layout taken_for);
/// Exchanged neighbours in the memory of a form: element offset XOR `mask`.
std::optional<ElementMap> exchanged_in_memory(const Shape& shape, DType dtype, Form form, std::int64_t mask);

/// Explains values that are expected at another place: a neighbour (index), another lane (packing), or a
/// transposed place or another layout (layout).
std::optional<Explanation> explain_displacement(const WrongOutput& output);

/// Explains groups of four lanes in another order, along the packed dim, the last dim, or in row-major order.
std::optional<Explanation> explain_lanes(const WrongOutput& output);

/// The kind of error that a map stands for: index, packing or layout.
ErrorKind kind_of(ElementMap::Kind kind);

}  // namespace assay
