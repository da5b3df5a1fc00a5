#include "harness/cases/tests/case_file_test_support.h"

namespace assay::cases {

// Tests errors in keys, names and settings of a whole case.

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
     R"(case.yaml:6:5: error: unknown key 'colour'; known: name, mode, tier, cache, timeout, shape, block_size, dtype, quantized, quant_min, quant_max, eps, symmetric, with, qparams, fill, forms, expected, tolerance, tune, seed, impl, model, layer, calls, step_tokens
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
     R"(case.yaml:2:12: error: unknown default 'name'; known: mode, tier, cache, timeout, shape, block_size, dtype, quantized, quant_min, quant_max, eps, symmetric, with, qparams, fill, forms, expected, tolerance, tune, seed, impl, model, layer, calls, step_tokens
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

// Tests errors in each, sets and with.

class AxisErrors : public BadInputTest {};

TEST_P(AxisErrors, AreToldWithTheirPlace) {
  expect_message(GetParam());
}

const BadInput inputs[] = {
    {"EachWithAnotherKey", with(quantize_file, "[8, 6]", "{each: [[8, 6]], also: 1}"), 0,
     R"(case.yaml:4:13: error: 'each' must be the only key of its map: put values that go together into its items
        shape: {each: [[8, 6]], also: 1}
                ^)"},
    {"EachOfAScalar", with(quantize_file, "[8, 6]", "{each: 8}"), 0,
     R"(case.yaml:4:13: error: 'each' needs a list of at least one value
        shape: {each: 8}
                ^)"},
    {"EachOfNothing", with(quantize_file, "[8, 6]", "{each: []}"), 0,
     R"(case.yaml:4:13: error: 'each' needs a list of at least one value
        shape: {each: []}
                ^)"},
    {"EachWithANullItem", with(quantize_file, "[8, 6]", "{each: [[8, 6], ~]}"), 0,
     R"(case.yaml:4:13: error: an item of 'each' has no value
        shape: {each: [[8, 6], ~]}
                ^)"},
    {"MisspelledEach", with(quantize_file, "[8, 6]", "{eahc: [[8, 6]]}"), 0,
     R"(case.yaml:4:5: error: 'shape' must be a list of 1 to 4 integers such as [1, 16, 4, 4], got a map
        shape: {eahc: [[8, 6]]}
        ^
    did you mean 'each'?)"},
    {"OneBadItemOfAnAxis", with(quantize_file, "[8, 6]", "{each: [[8, 6], [8, six], [4, 6]]}"), 2,
     R"(case.yaml:4:28: error: 'shape[1]' must be a 64-bit decimal integer, got the text 'six'
        shape: {each: [[8, 6], [8, six], [4, 6]]}
                               ^)"},
    {"MisspelledSet", "sets: {small: [8, 6]}\n" + with(quantize_file, "[8, 6]", "smal"), 0,
     R"(case.yaml:5:5: error: 'shape' must be a list of 1 to 4 integers such as [1, 16, 4, 4], got the text 'smal'
        shape: smal
        ^
    did you mean 'small'?)"},
    {"SetThatRefersToItself", "sets: {a: b, b: {each: [a]}}\n" + with(quantize_file, "[8, 6]", "a"), 0,
     R"(case.yaml:1:25: error: set 'a' refers to itself: a -> b -> a
    sets: {a: b, b: {each: [a]}}
                            ^)"},
    {"SetNamedAsAFill", "sets: {ties: [8, 6]}\n" + quantize_file, 1,
     R"(case.yaml:1:8: error: the set's name 'ties' is also a fill: rename it
    sets: {ties: [8, 6]}
           ^)"},
    {"SetNamedAsAChoice", "sets: {f16: [8, 6]}\n" + quantize_file, 1,
     R"(case.yaml:1:8: error: the set's name 'f16' is also a choice of the parameter 'dtype' of quantize_affine: rename it
    sets: {f16: [8, 6]}
           ^)"},
    {"SetNamedAsAnImpl", "sets: {elementwise: [8, 6]}\n" + quantize_file, 1,
     R"(case.yaml:1:8: error: the set's name 'elementwise' is also an impl of quantize_affine: rename it
    sets: {elementwise: [8, 6]}
           ^)"},
    {"SetNamedAsAWordOfTheLanguage", "sets: {all: [8, 6]}\n" + quantize_file, 1,
     R"(case.yaml:1:8: error: the set's name 'all' is also a word of the case language: rename it
    sets: {all: [8, 6]}
           ^)"},
    {"SetNamedAsANumber", "sets: {2x: [8, 6]}\n" + quantize_file, 1,
     R"(case.yaml:1:8: error: a set's name may have only letters, digits and '_' and must not begin with a digit, got '2x'
    sets: {2x: [8, 6]}
           ^)"},
    {"SetWithoutValue", R"(sets:
  s:
)" + quantize_file,
     1, R"(case.yaml:2:3: error: the set 's' has no value
      s:
      ^)"},
    {"SetDefinedTwice", "sets: {s: 1, s: 2}\n" + quantize_file, 1,
     R"(case.yaml:1:14: error: duplicate key 's', already given at 1:8
    sets: {s: 1, s: 2}
                 ^)"},
    {"SetsOfWrongType", "sets: [8, 6]\n" + quantize_file, 0,
     R"(case.yaml:1:1: error: 'sets' must be a map of named values, got a list
    sets: [8, 6]
    ^)"},
    {"BadValueInsideASet", R"(op: q8ta_pixel_shuffle
sets:
  good: {x: {scale: 1, zero_point: 0}, y: {scale: 1, zero_point: 0}}
  bad: {x: {scale: 1, zero_point: 0}, y: {scale: 0, zero_point: 0}}
cases:
  - name: one
    shape: [1, 4, 2, 2]
    upscale_factor: 2
    qparams: {each: [good, bad]}
)",
     1, R"(case.yaml:4:43: error: y.scale must be finite and greater than 0 as a 32-bit float, got 0
      bad: {x: {scale: 1, zero_point: 0}, y: {scale: 0, zero_point: 0}}
                                              ^)"},
    {"WithOfAScalar", quantize_file + "    with: 3\n", 0,
     R"(case.yaml:6:5: error: 'with' must be a map of values that go together, got the text '3'
        with: 3
        ^)"},
    {"WithAnUnknownKey", with(quantize_file, "    shape: [8, 6]\n", "    with: {shpae: [8, 6]}\n"), 0,
     R"(case.yaml:4:12: error: unknown key 'shpae'
        with: {shpae: [8, 6]}
               ^
    did you mean 'shape'?)"},
    {"WithAHeadKey", quantize_file + "    with: {tier: smoke}\n", 0,
     R"(case.yaml:6:12: error: 'tier' is not allowed inside 'with'
        with: {tier: smoke}
               ^)"},
    {"WithInsideWith", quantize_file + "    with: {with: {seed: 1}}\n", 0,
     R"(case.yaml:6:12: error: 'with' is not allowed inside 'with'
        with: {with: {seed: 1}}
               ^)"},
};

INSTANTIATE_TEST_SUITE_P(Load, AxisErrors, testing::ValuesIn(inputs), name_of_bad_input);

// All errors of a case are reported together, but not those that follow from another reported error.

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
case.yaml:8:5: error: unknown key 'hue'; known: name, mode, tier, cache, timeout, shape, block_size, dtype, quantized, quant_min, quant_max, eps, symmetric, with, qparams, fill, forms, expected, tolerance, tune, seed, impl, model, layer, calls, step_tokens
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

TEST(KnownTensors, AreListedOnceThoughAnInputIsUpdated) {
  std::vector<Op> ops(fake_ops().ops().begin(), fake_ops().ops().end());
  for (Op& op : ops) {
    op.tensors = [tensors = op.tensors](const Params& params) {
      std::vector<TensorSpec> all = tensors(params);
      all.back().name = all.front().name;
      return all;
    };
  }
  const Registry registry(std::move(ops));
  const TemporaryFolder folder;
  const std::filesystem::path file =
      folder.write("case.yaml", shuffle_file + "    forms: {q: buffer/4W4C}\n");
  const LoadResult loaded = load_cases(std::span(&file, 1), registry);
  ASSERT_EQ(loaded.errors.size(), 1U);
  EXPECT_EQ(loaded.errors.front().message, "unknown tensor 'q'; known: x");
}

}  // namespace

}  // namespace assay::cases
