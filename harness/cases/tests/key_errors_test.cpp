#include "harness/cases/tests/bad_input_test_support.h"

// Tests errors in keys, names and settings of a whole case.

namespace assay::cases {
namespace {

using namespace test;

class KeyErrors : public BadInputTest {};

TEST_P(KeyErrors, AreToldWithTheirPlace) {
  expect_message(GetParam());
}

const BadInput wrong_keys[] = {
    {"UnknownKey", with(quantize_file, "    shape:", "    shpae:"), 0,
     R"(case.yaml:4:5: error: unknown key 'shpae'
        shpae: [8, 6]
        ^
    did you mean 'shape'?)"},
    {"UnknownKeyFarFromAll", quantize_file + "    colour: red\n", 0,
     R"(case.yaml:6:5: error: unknown key 'colour'; known: name, mode, tier, cache, timeout, shape, block_size, dtype, quantized, quant_min, quant_max, eps, symmetric, with, qparams, fill, forms, expected, tolerance, tune, seed, impl, model, layer, calls
        colour: red
        ^)"},
    {"DuplicateKey", quantize_file + "    shape: [9, 6]\n", 0,
     R"(case.yaml:6:5: error: duplicate key 'shape', already given at 4:5
        shape: [9, 6]
        ^)"},
    {"DuplicateKeyInAValue", with(shuffle_file, "zero_point: 1}", "zero_point: 1, scale: 2}"), 0,
     R"(case.yaml:6:36: error: duplicate key 'scale', already given at 6:9
        x: {scale: 0.5, zero_point: 1, scale: 2}
                                       ^)"},
    {"DuplicateKeyBehindAnAlias", R"(op: q8ta_pixel_shuffle
sets:
  q: &q {scale: 1, scale: 2, zero_point: 0}
cases:
  - {name: one, shape: [1, 4, 2, 2], upscale_factor: 2, x: *q, y: *q}
)",
     0, R"(case.yaml:3:20: error: duplicate key 'scale', already given at 3:10
      q: &q {scale: 1, scale: 2, zero_point: 0}
                       ^)"},
    {"UnknownKeyInDefaults", R"(op: quantize_affine
defaults: {teir: smoke, block_size: [2]}
cases: [{name: a, shape: [4]}]
)",
     1, R"(case.yaml:2:12: error: unknown default 'teir'
    defaults: {teir: smoke, block_size: [2]}
               ^
    did you mean 'tier'?)"},
    {"NameInDefaults", R"(op: quantize_affine
defaults: {name: smoke, block_size: [2]}
cases: [{name: a, shape: [4]}]
)",
     1,
     R"(case.yaml:2:12: error: unknown default 'name'; known: mode, tier, cache, timeout, shape, block_size, dtype, quantized, quant_min, quant_max, eps, symmetric, with, qparams, fill, forms, expected, tolerance, tune, seed, impl, model, layer, calls
    defaults: {name: smoke, block_size: [2]}
               ^)"},
    {"DefaultsOfWrongType", R"(op: quantize_affine
defaults: [1]
cases: [{name: a, shape: [4]}]
)",
     0, R"(case.yaml:2:1: error: 'defaults' must be a map of keys of a case, got a list
    defaults: [1]
    ^)"},
    {"MissingName",
     with(quantize_file, R"(  - name: one
    shape)",
          "  - shape"),
     0, R"(case.yaml:3:5: error: a case needs a 'name'
      - shape: [8, 6]
        ^)"},
    {"NameWithASlash", with(quantize_file, "one", "a/b"), 0,
     R"(case.yaml:3:5: error: a name may have only letters, digits and '_', got 'a/b'
      - name: a/b
        ^)"},
    {"NameWithoutValue", with(quantize_file, "one", ""), 0, R"(case.yaml:3:5: error: 'name' has no value
      - name: 
        ^)"},
    {"UnknownMode", quantize_file + "    mode: acu\n", 0, R"(case.yaml:6:5: error: unknown mode 'acu'
        mode: acu
        ^
    did you mean 'accu'?)"},
    {"ModeAsAnAxis", quantize_file + "    mode: {each: [accu, perf]}\n", 0,
     R"(case.yaml:6:5: error: 'mode' applies to the whole case, so it cannot have 'each'
        mode: {each: [accu, perf]}
        ^)"},
    {"UnknownTier", quantize_file + "    tier: smoek\n", 0, R"(case.yaml:6:5: error: unknown tier 'smoek'
        tier: smoek
        ^
    did you mean 'smoke'?)"},
    {"TimeoutOfZero", quantize_file + "    timeout: 0\n", 0,
     R"(case.yaml:6:5: error: 'timeout' must be more than 0 and at most 86400 seconds, got 0
        timeout: 0
        ^)"},
    {"TimeoutOfWrongType", quantize_file + "    timeout: soon\n", 0,
     R"(case.yaml:6:5: error: 'timeout' must be a finite decimal number, got the text 'soon'
        timeout: soon
        ^)"},
    {"TimeoutTooLong", quantize_file + "    timeout: 1e6\n", 0,
     R"(case.yaml:6:5: error: 'timeout' must be more than 0 and at most 86400 seconds, got 1000000
        timeout: 1e6
        ^)"},
    {"MissingParameter", with(quantize_file, "    block_size: [2, 3]\n", ""), 0,
     R"(case.yaml:3:5: error: case 'one' is missing the parameter 'block_size' of quantize_affine: elements of a block; -1 is the whole dim
      - name: one
        ^)"},
    {"NullValue", with(quantize_file, " [8, 6]", ""), 0, R"(case.yaml:4:5: error: 'shape' has no value
        shape:
        ^)"},
    {"TildeValue", with(quantize_file, " [8, 6]", " ~"), 0, R"(case.yaml:4:5: error: 'shape' has no value
        shape: ~
        ^)"},
    {"GivenTwice", quantize_file + "    with: {shape: [9, 6]}\n", 0,
     R"(case.yaml:6:12: error: 'shape' is given twice, first at case.yaml:4:5
        with: {shape: [9, 6]}
               ^)"},
    {"EqualIds", quantize_file + R"(  - name: one
    shape: [8, 6]
    block_size: [2, 3]
)",
     1,
     R"(case.yaml:6:5: error: the id quantize_affine/one/WP.WP/elementwise is already used at case.yaml:3: rename one of them
      - name: one
        ^)"},
    {"EqualIdsInOneCase", with(quantize_file, "[8, 6]", "{each: [[8, 6], [8, 6]]}"), 1,
     R"(case.yaml:3:5: error: two points of this case have the id quantize_affine/one/8x6/WP.WP/elementwise: remove the repeated value, or name one in `sets:`
      - name: one
        ^)"},
    {"EqualIdsInTwoFiles", "include: [b.yaml]\n" + quantize_file + "=== b.yaml\n" + quantize_file, 1,
     R"(case.yaml:4:5: error: the id quantize_affine/one/WP.WP/elementwise is already used at b.yaml:3: rename one of them
      - name: one
        ^)"},
};

INSTANTIATE_TEST_SUITE_P(Load, KeyErrors, testing::ValuesIn(wrong_keys), name_of_bad_input);

}  // namespace
}  // namespace assay::cases
