#pragma once

#include "harness/op/op.h"

namespace assay::faults {

/// Program::unchecked_because of all of them: what is to be seen is what the engine finds where they run.
inline constexpr const char* seen_when_run = "it is a fault that the engine is to see";

// Ops whose impls are all wrong in one way, the one their name says, but for `correct`. Tensors and
// references are those of the real ops, where there is one.

/// quantize_affine, f32 to i8 per channel, WP.
Op quantize();
/// dequantize_affine, i8 to f32 per tensor, WP.
Op dequantize();
/// q8ta_pixel_shuffle from 4C1W to 4C1W.
Op pixel_shuffle();
/// q8ta_clone from 4C1W to 4C1W.
Op clone();
/// q8ta_quantize, f32 of a channels-packed 3D texture to 4C1W.
Op quantize_tensor();
/// q8ta_dequantize, 4C1W to f32 of a channels-packed 3D texture.
Op dequantize_tensor();
/// y[m, n] = sum_k x[m, k] * w[n, k], i8 to i32; n <= 16, k <= 256. Also has impls that never get to an
/// answer.
Op matmul();
/// update_cache, f32 in the order bshd, which writes a part of its output. `reads_the_cache` is checked as
/// users' shaders are.
Op update_cache();
/// matmul() with shaders that declare more than their programs provide.
Op asking_matmul();
/// matmul() with one input copied into scratch by set-up: copying the weights is allowed, the activations
/// not.
Op packing_matmul();
/// y = ~x on i8, both of that texture storage in WP.
Op flip(Storage storage);

Params quantize_params(const Shape& shape);
Params dequantize_params(const Shape& shape);
Params pixel_shuffle_params(const Shape& shape, std::int64_t factor, bool equal_qparams);
Params clone_params(const Shape& shape);
Params quantize_tensor_params(const Shape& shape);
Params dequantize_tensor_params(const Shape& shape);
Params matmul_params(std::int64_t m, std::int64_t k, std::int64_t n);
Params flip_params(const Shape& shape);
/// `shape`: of x.
Params update_cache_params(const Shape& shape, std::int64_t capacity, std::int64_t start);

}  // namespace assay::faults
