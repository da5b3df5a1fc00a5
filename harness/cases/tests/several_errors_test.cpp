#include "harness/cases/tests/bad_input_test_support.h"

// All errors of a case are reported together, but not those that follow from another reported error.

namespace assay::cases {
namespace {

using namespace test;

class SeveralErrors : public BadInputTest {};

TEST_P(SeveralErrors, AreToldTogether) {
  expect_message(GetParam());
}

const BadInput several_errors[] = {
    {"OfAllKindsOfKeys", R"(op: quantize_affine
cases:
  - name: a/b
    teir: smoke
    mode: acu
    shape: [8, six]
    dtype: f61
    tune: {local_size: 0, vectors: 1}
)",
     0, R"(case.yaml:3:5: error: a name may have only letters, digits and '_', got 'a/b'
      - name: a/b
        ^
case.yaml:3:5: error: the case is missing the parameter 'block_size' of quantize_affine: elements of a block; -1 is the whole dim
      - name: a/b
        ^
case.yaml:4:5: error: unknown key 'teir'
        teir: smoke
        ^
    did you mean 'tier'?
case.yaml:5:5: error: unknown mode 'acu'
        mode: acu
        ^
    did you mean 'accu'?
case.yaml:6:5: error: 'shape[1]' must be a 64-bit decimal integer, got the text 'six'
        shape: [8, six]
        ^
case.yaml:7:5: error: 'dtype' must be one of f32, f16, got the text 'f61'
        dtype: f61
        ^
    did you mean 'f16'?
case.yaml:8:12: error: tune.local_size must be in 1..1024, got 0
        tune: {local_size: 0, vectors: 1}
               ^
case.yaml:8:27: error: unknown tunable of quantize_affine impl 'elementwise': 'vectors'
        tune: {local_size: 0, vectors: 1}
                              ^
    did you mean 'vectors_per_invocation'?)"},
    {"OfWhatDependsOnTensors",
     shuffle_file + "    forms: {x: buffer/4W, z: buffer/4W4C}\n    fill: {w: ties, x: {constant: 300}}\n", 0,
     R"(case.yaml:8:13: error: tensor 'x' (i8) does not accept the form buffer/4W; it accepts buffer/4W4C, buffer/4C1W
        forms: {x: buffer/4W, z: buffer/4W4C}
                ^
case.yaml:8:27: error: unknown tensor 'z'; known: x, y
        forms: {x: buffer/4W, z: buffer/4W4C}
                              ^
case.yaml:9:12: error: unknown input 'w'; known: x
        fill: {w: ties, x: {constant: 300}}
               ^
case.yaml:9:21: error: values of 'x' must be between -128 and 127, got 300
        fill: {w: ties, x: {constant: 300}}
                        ^)"},
    {"OfBothHalvesOfQparams",
     with(shuffle_file, "{scale: 0.5, zero_point: 1}", "{scale: 0, zero_point: 128}"), 0,
     R"(case.yaml:6:9: error: x.scale must be finite and greater than 0 as a 32-bit float, got 0
        x: {scale: 0, zero_point: 128}
            ^
case.yaml:6:19: error: x.zero_point must be between -128 and 127, got 128
        x: {scale: 0, zero_point: 128}
                      ^)"},
    {"OfItemsOfTwoAxes", R"(op: quantize_affine
cases:
  - name: one
    shape: {each: [[8, 6], [8, six]]}
    block_size: [2, 3]
    tune: {local_size: {each: [64, big]}}
)",
     1, R"(case.yaml:4:28: error: 'shape[1]' must be a 64-bit decimal integer, got the text 'six'
        shape: {each: [[8, 6], [8, six]]}
                               ^
case.yaml:6:12: error: 'tune.local_size' must be a 64-bit decimal integer, got the text 'big'
        tune: {local_size: {each: [64, big]}}
               ^)"},
    {"OfADuplicateKeyAndAValue", quantize_file + "    shape: [9, 6]\n    eps: small\n", 0,
     R"(case.yaml:6:5: error: duplicate key 'shape', already given at 4:5
        shape: [9, 6]
        ^
case.yaml:7:5: error: 'eps' must be a finite decimal number, got the text 'small'
        eps: small
        ^)"},
    {"OfAMalformedEachAndAValue", with(quantize_file, "[8, 6]", "{each: 8}") + "    eps: small\n", 0,
     R"(case.yaml:4:13: error: 'each' needs a list of at least one value
        shape: {each: 8}
                ^
case.yaml:6:5: error: 'eps' must be a finite decimal number, got the text 'small'
        eps: small
        ^)"},
    {"OfADefaultWithoutThoseThatFollowFromIt", R"(op: quantize_affine
defaults: {shpae: [4]}
cases: [{name: a, block_size: [2], seed: -1}]
)",
     0, R"(case.yaml:2:12: error: unknown default 'shpae'
    defaults: {shpae: [4]}
               ^
    did you mean 'shape'?
case.yaml:3:36: error: 'seed' must be a decimal integer from 0 to 18446744073709551615, got the text '-1'
    cases: [{name: a, block_size: [2], seed: -1}]
                                       ^)"},
    {"OfATensorGivenAsAParameter",
     quantize_file + "    scale: 0.5\n    zero_point: {each: [1, 2]}\n    hue: 1\n", 0,
     R"(case.yaml:6:5: error: unknown key 'scale': for quantize_affine here it is an input tensor, whose values 'fill' sets
        scale: 0.5
        ^
    did you mean 'fill: {scale: {constant: 0.5}}'?
case.yaml:7:5: error: unknown key 'zero_point': for quantize_affine here it is an input tensor, whose values 'fill' sets
        zero_point: {each: [1, 2]}
        ^
    did you mean 'fill: {zero_point: {constant: NUMBER}}'?
case.yaml:8:5: error: unknown key 'hue'; known: name, mode, tier, cache, timeout, shape, block_size, dtype, quantized, quant_min, quant_max, eps, symmetric, with, qparams, fill, forms, expected, tolerance, tune, seed, impl, model, layer, calls
        hue: 1
        ^)"},
    {"OfATensorGivenAsAParameterBesideABadShape",
     quantize_file + "  - {name: two, shape: [8, six], block_size: [2, 3], scale: 0.5}\n", 1,
     R"(case.yaml:6:17: error: 'shape[1]' must be a 64-bit decimal integer, got the text 'six'
      - {name: two, shape: [8, six], block_size: [2, 3], scale: 0.5}
                    ^
case.yaml:6:54: error: unknown key 'scale': for quantize_affine here it is an input tensor, whose values 'fill' sets
      - {name: two, shape: [8, six], block_size: [2, 3], scale: 0.5}
                                                         ^
    did you mean 'fill: {scale: {constant: 0.5}}'?)"},
};

INSTANTIATE_TEST_SUITE_P(Load, SeveralErrors, testing::ValuesIn(several_errors), name_of_bad_input);

}  // namespace
}  // namespace assay::cases
