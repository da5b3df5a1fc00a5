#include "harness/cases/expansion/param_value.h"
#include "harness/cases/tests/case_file_test_support.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/cases/yaml/yaml_parser.h"

namespace assay::cases {

// Tests errors in values of parameters.

namespace {

using namespace test;

class ValueErrors : public BadInputTest {};

TEST_P(ValueErrors, AreToldWithTheirPlace) {
  expect_message(GetParam());
}

const BadInput wrong_values[] = {
    {"ShapeOfRankZero", with(quantize_file, "[8, 6]", "[]"), 0,
     R"(case.yaml:4:5: error: shape has 0 dims; 1 to 4 are possible
        shape: []
        ^)"},
    {"ShapeOfRankFive", with(quantize_file, "[8, 6]", "[1, 2, 3, 4, 5]"), 0,
     R"(case.yaml:4:5: error: shape has 5 dims; 1 to 4 are possible
        shape: [1, 2, 3, 4, 5]
        ^)"},
    {"ShapeWithANegativeDim", with(quantize_file, "[8, 6]", "[8, -6]"), 0,
     R"(case.yaml:4:5: error: shape has -6 at position 1; every entry must be between 1 and 2147483647
        shape: [8, -6]
        ^)"},
    {"ShapeWithAZeroDim", with(quantize_file, "[8, 6]", "[8, 0]"), 0,
     R"(case.yaml:4:5: error: shape has 0 at position 1; every entry must be between 1 and 2147483647
        shape: [8, 0]
        ^)"},
    {"ShapeTooLarge", with(quantize_file, "[8, 6]", "[2147483647, 2147483647]"), 0,
     R"(case.yaml:4:5: error: shape 2147483647x2147483647 has more than 2^40 elements
        shape: [2147483647, 2147483647]
        ^)"},
    {"DimBeyondInt32", with(quantize_file, "[8, 6]", "[8, 4294967296]"), 0,
     R"(case.yaml:4:5: error: shape has 4294967296 at position 1; every entry must be between 1 and 2147483647
        shape: [8, 4294967296]
        ^)"},
    {"DimBeyondInt64", with(quantize_file, "[8, 6]", "[8, 99999999999999999999]"), 0,
     R"(case.yaml:4:5: error: 'shape[1]' must be a 64-bit decimal integer, got the text '99999999999999999999'
        shape: [8, 99999999999999999999]
        ^)"},
    {"ShapesWithoutEach", with(quantize_file, "[8, 6]", "[[8, 6], [9, 6]]"), 0,
     R"(case.yaml:4:5: error: 'shape' must be a list of 1 to 4 integers such as [1, 16, 4, 4], got a list; put several values, one case each, under 'each'
        shape: [[8, 6], [9, 6]]
        ^
    did you mean 'shape: {each: [[8, 6], [9, 6]]}'?)"},
    {"ManyShapesWithoutEach",
     with(quantize_file, "[8, 6]", "[[1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 6], [1, 2, 3, 7], [1, 2, 3, 8]]"),
     0,
     R"(case.yaml:4:5: error: 'shape' must be a list of 1 to 4 integers such as [1, 16, 4, 4], got a list; put several values, one case each, under 'each'
        shape: [[1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 6], [1, 2, 3, 7], [1, 2, 3, 8]]
        ^
    did you mean 'shape: {each: [...]}'?)"},
    {"ShapeOfAScalar", with(quantize_file, "[8, 6]", "8"), 0,
     R"(case.yaml:4:5: error: 'shape' must be a list of 1 to 4 integers such as [1, 16, 4, 4], got the text '8'
        shape: 8
        ^)"},
    {"DimOfWrongType", with(quantize_file, "[8, 6]", "[8, six]"), 0,
     R"(case.yaml:4:5: error: 'shape[1]' must be a 64-bit decimal integer, got the text 'six'
        shape: [8, six]
        ^)"},
    {"ParametersThatDoNotFit", with(quantize_file, "[2, 3]", "[2]"), 0,
     R"(case.yaml:5:5: error: block_size has 1 entries, shape has 2
        block_size: [2]
        ^)"},
    {"ChannelsNotDivisible", with(shuffle_file, "[1, 16, 4, 4]", "[1, 18, 4, 4]"), 0,
     R"(case.yaml:5:5: error: shape has 18 channels, which 4 (upscale_factor^2) does not divide
        shape: [1, 18, 4, 4]
        ^)"},
    {"OneItemOfAnAxisDoesNotFit",
     with(shuffle_file, "[1, 16, 4, 4]", "{each: [[1, 16, 4, 4], [1, 18, 4, 4]]}"), 1,
     R"(case.yaml:5:35: error: shape has 18 channels, which 4 (upscale_factor^2) does not divide
        shape: {each: [[1, 16, 4, 4], [1, 18, 4, 4]]}
                                      ^)"},
    {"IntegerBelowItsRange", with(shuffle_file, "upscale_factor: 2", "upscale_factor: 0"), 0,
     R"(case.yaml:4:5: error: upscale_factor must be between 1 and 64, got 0
        upscale_factor: 0
        ^)"},
    {"IntegerAboveItsRange", with(shuffle_file, "upscale_factor: 2", "upscale_factor: 65"), 0,
     R"(case.yaml:4:5: error: upscale_factor must be between 1 and 64, got 65
        upscale_factor: 65
        ^)"},
    {"HexadecimalInteger", with(shuffle_file, "upscale_factor: 2", "upscale_factor: 0x2"), 0,
     R"(case.yaml:4:5: error: 'upscale_factor' must be a 64-bit decimal integer, got the text '0x2'
        upscale_factor: 0x2
        ^)"},
    {"IntegerWithUnderscore", with(shuffle_file, "upscale_factor: 2", "upscale_factor: 1_0"), 0,
     R"(case.yaml:4:5: error: 'upscale_factor' must be a 64-bit decimal integer, got the text '1_0'
        upscale_factor: 1_0
        ^)"},
    {"IntegerWithLeadingZero", with(shuffle_file, "upscale_factor: 2", "upscale_factor: 02"), 0,
     R"(case.yaml:4:5: error: 'upscale_factor' must be a 64-bit decimal integer, got the text '02'
        upscale_factor: 02
        ^)"},
    {"IntegerWithAFraction", with(shuffle_file, "upscale_factor: 2", "upscale_factor: 2.0"), 0,
     R"(case.yaml:4:5: error: 'upscale_factor' must be a 64-bit decimal integer, got the text '2.0'
        upscale_factor: 2.0
        ^)"},
    {"QuotedInteger", with(shuffle_file, "upscale_factor: 2", R"(upscale_factor: "2")"), 0,
     R"(case.yaml:4:5: error: 'upscale_factor' must be a 64-bit decimal integer, got the quoted text '2'
        upscale_factor: "2"
        ^)"},
    {"IntegerOfAList", with(shuffle_file, "upscale_factor: 2", "upscale_factor: [2]"), 0,
     R"(case.yaml:4:5: error: 'upscale_factor' must be a 64-bit decimal integer, got a list; put several values, one case each, under 'each'
        upscale_factor: [2]
        ^
    did you mean 'upscale_factor: {each: [2]}'?)"},
    {"IntegerOfAWord", with(shuffle_file, "upscale_factor: 2", "upscale_factor: two"), 0,
     R"(case.yaml:4:5: error: 'upscale_factor' must be a 64-bit decimal integer, got the text 'two'
        upscale_factor: two
        ^)"},
    {"NumberThatIsNan", quantize_file + "    eps: .nan\n", 0,
     R"(case.yaml:6:5: error: 'eps' must be a finite decimal number, got the text '.nan'
        eps: .nan
        ^)"},
    {"NumberThatIsInfinite", quantize_file + "    eps: -.inf\n", 0,
     R"(case.yaml:6:5: error: 'eps' must be a finite decimal number, got the text '-.inf'
        eps: -.inf
        ^)"},
    {"NumberTooLarge", quantize_file + "    eps: 1e400\n", 0,
     R"(case.yaml:6:5: error: 'eps' must be a finite decimal number, got the text '1e400'
        eps: 1e400
        ^)"},
    {"NumberThatIsAWord", quantize_file + "    eps: small\n", 0,
     R"(case.yaml:6:5: error: 'eps' must be a finite decimal number, got the text 'small'
        eps: small
        ^)"},
    {"BooleanYes", quantize_file + "    symmetric: yes\n", 0,
     R"(case.yaml:6:5: error: 'symmetric' must be true or false, got the text 'yes'
        symmetric: yes
        ^)"},
    {"BooleanCapital", quantize_file + "    symmetric: True\n", 0,
     R"(case.yaml:6:5: error: 'symmetric' must be true or false, got the text 'True'
        symmetric: True
        ^
    did you mean 'true'?)"},
    {"UnknownChoice", quantize_file + "    dtype: f61\n", 0,
     R"(case.yaml:6:5: error: 'dtype' must be one of f32, f16, got the text 'f61'
        dtype: f61
        ^
    did you mean 'f16'?)"},
    {"DTypeByAnotherToolsName", quantize_file + "    dtype: float16\n    quantized: torch.uint8\n", 0,
     R"(case.yaml:6:5: error: 'dtype' must be one of f32, f16, got the text 'float16'
        dtype: float16
        ^
    did you mean 'f16'?
case.yaml:7:5: error: 'quantized' must be one of i8, u8, i32, got the text 'torch.uint8'
        quantized: torch.uint8
        ^
    did you mean 'u8'?)"},
    {"ChoiceOfAList", quantize_file + "    dtype: [f16]\n", 0,
     R"(case.yaml:6:5: error: 'dtype' must be one of f32, f16, got a list; put several values, one case each, under 'each'
        dtype: [f16]
        ^
    did you mean 'dtype: {each: [f16]}'?)"},
    {"ZeroScale", with(shuffle_file, "scale: 0.5", "scale: 0"), 0,
     R"(case.yaml:6:9: error: x.scale must be finite and greater than 0 as a 32-bit float, got 0
        x: {scale: 0, zero_point: 1}
            ^)"},
    {"NegativeScale", with(shuffle_file, "scale: 0.5", "scale: -0.5"), 0,
     R"(case.yaml:6:9: error: x.scale must be finite and greater than 0 as a 32-bit float, got -0.5
        x: {scale: -0.5, zero_point: 1}
            ^)"},
    {"NanScale", with(shuffle_file, "scale: 0.5", "scale: .nan"), 0,
     R"(case.yaml:6:9: error: 'x.scale' must be a finite decimal number that a 32-bit float can hold, got the text '.nan'
        x: {scale: .nan, zero_point: 1}
            ^)"},
    {"InfiniteScale", with(shuffle_file, "scale: 0.5", "scale: .inf"), 0,
     R"(case.yaml:6:9: error: 'x.scale' must be a finite decimal number that a 32-bit float can hold, got the text '.inf'
        x: {scale: .inf, zero_point: 1}
            ^)"},
    {"ScaleTooSmallForAFloat", with(shuffle_file, "scale: 0.5", "scale: 1e-60"), 0,
     R"(case.yaml:6:9: error: 'x.scale' must be a finite decimal number that a 32-bit float can hold, got the text '1e-60'
        x: {scale: 1e-60, zero_point: 1}
            ^)"},
    {"ZeroPointOutOfRange", with(shuffle_file, "zero_point: 1}", "zero_point: 128}"), 0,
     R"(case.yaml:6:21: error: x.zero_point must be between -128 and 127, got 128
        x: {scale: 0.5, zero_point: 128}
                        ^)"},
    {"ZeroPointBeyondInt32", with(shuffle_file, "zero_point: 1}", "zero_point: 5000000000}"), 0,
     R"(case.yaml:6:21: error: x.zero_point must be between -128 and 127, got 5000000000
        x: {scale: 0.5, zero_point: 5000000000}
                        ^)"},
    {"ZeroPointWithAFraction", with(shuffle_file, "zero_point: 1}", "zero_point: 0.5}"), 0,
     R"(case.yaml:6:21: error: 'x.zero_point' must be a 64-bit decimal integer, got the text '0.5'
        x: {scale: 0.5, zero_point: 0.5}
                        ^)"},
    {"QparamsWithoutZeroPoint", with(shuffle_file, ", zero_point: 1}", "}"), 0,
     R"(case.yaml:6:5: error: 'x' is missing its 'zero_point'
        x: {scale: 0.5}
        ^)"},
    {"QparamsWithUnknownKey", with(shuffle_file, "zero_point: 1}", "zero_piont: 1}"), 0,
     R"(case.yaml:6:21: error: unknown key 'zero_piont'
        x: {scale: 0.5, zero_piont: 1}
                        ^
    did you mean 'zero_point'?)"},
    {"QparamsOfAList", with(shuffle_file, "{scale: 0.5, zero_point: 1}", "[0.5, 1]"), 0,
     R"(case.yaml:6:5: error: 'x' must be a map {scale: ..., zero_point: ...}, got a list; put several values, one case each, under 'each'
        x: [0.5, 1]
        ^
    did you mean 'x: {each: [0.5, 1]}'?)"},
    {"QparamsOfAnUnknownName", shuffle_file + "    qparams: {z: {scale: 1, zero_point: 1}}\n", 0,
     R"(case.yaml:8:15: error: unknown qparams of q8ta_pixel_shuffle: 'z'; known: x, y
        qparams: {z: {scale: 1, zero_point: 1}}
                  ^)"},
    {"QparamsGivenTwice", shuffle_file + "    qparams: {x: {scale: 1, zero_point: 1}}\n", 0,
     R"(case.yaml:8:15: error: 'x' is given twice, first at case.yaml:6:5
        qparams: {x: {scale: 1, zero_point: 1}}
                  ^)"},
};

INSTANTIATE_TEST_SUITE_P(Load, ValueErrors, testing::ValuesIn(wrong_values), name_of_bad_input);

/// Returns the error of a scalar where the parameter wants a list.
std::string error_of_scalar_for(const ParamSpec& spec) {
  const SourceFile file("case.yaml", "kernel: 1\n");
  Arena arena;
  const Node::Entry& entry = parse_yaml(file, arena)->entries.front();
  try {
    to_value(spec, {entry.key, entry.value}, {});
  } catch (const Problem& problem) {
    return problem.what();
  }
  return "";
}

TEST(ListErrors, ShowAnExampleThatFitsTheParameter) {
  EXPECT_EQ(error_of_scalar_for(ints("kernel", rank(2)).at_least(1)),
            "'kernel' must be a list of 2 integers such as [4, 4], got the text '1'");
  EXPECT_EQ(error_of_scalar_for(ints("kernel", rank(1, 3)).at_least(5)),
            "'kernel' must be a list of 1 to 3 integers such as [16, 5, 5], got the text '1'");
}

// Tests errors in fill, forms, impl, tune, tolerance, expected and seed.

class SettingErrors : public BadInputTest {};

TEST_P(SettingErrors, AreToldWithTheirPlace) {
  expect_message(GetParam());
}

const BadInput setting_inputs[] = {
    {"UnknownImpl", shuffle_file + "    impl: fussed\n", 0,
     R"(case.yaml:8:5: error: unknown impl of q8ta_pixel_shuffle: 'fussed'
        impl: fussed
        ^
    did you mean 'fused'?)"},
    {"UnknownImplFarFromAll", shuffle_file + "    impl: tiled\n", 0,
     R"(case.yaml:8:5: error: unknown impl of q8ta_pixel_shuffle: 'tiled'; known: fused, unfused
        impl: tiled
        ^)"},
    {"ImplsWithoutEach", shuffle_file + "    impl: [fused, unfused]\n", 0,
     R"(case.yaml:8:5: error: 'impl' must be the name of an impl, or 'all', got a list; put several values, one case each, under 'each'
        impl: [fused, unfused]
        ^
    did you mean 'impl: {each: [fused, unfused]}'?)"},
    {"UnknownLayout", shuffle_file + "    forms: {x: buffer/4W4D}\n", 0,
     R"(case.yaml:8:13: error: unknown form 'buffer/4W4D'
        forms: {x: buffer/4W4D}
                ^
    did you mean 'buffer/4W4C'?)"},
    {"FormWithoutStorage", shuffle_file + "    forms: {x: 4W4C}\n", 0,
     R"(case.yaml:8:13: error: unknown form '4W4C'
        forms: {x: 4W4C}
                ^
    did you mean 'buffer/4W4C'?)"},
    {"FormNotAccepted", shuffle_file + "    forms: {x: buffer/4W}\n", 0,
     R"(case.yaml:8:13: error: tensor 'x' (i8) does not accept the form buffer/4W; it accepts buffer/4W4C, buffer/4C1W
        forms: {x: buffer/4W}
                ^)"},
    {"FormOfAnUnknownTensor", shuffle_file + "    forms: {z: buffer/4W4C}\n", 0,
     R"(case.yaml:8:13: error: unknown tensor 'z'; known: x, y
        forms: {z: buffer/4W4C}
                ^)"},
    {"FormsOfAScalar", shuffle_file + "    forms: buffer/4W4C\n", 0,
     R"(case.yaml:8:5: error: 'forms' must be a map {TENSOR: STORAGE/LAYOUT}, got the text 'buffer/4W4C'
        forms: buffer/4W4C
        ^)"},
    {"UnknownFill", shuffle_file + "    fill: tie\n", 0, R"(case.yaml:8:5: error: unknown fill 'tie'
        fill: tie
        ^
    did you mean 'ties'?)"},
    {"UnknownFillOfATensor", shuffle_file + "    fill: {x: unifrom}\n", 0,
     R"(case.yaml:8:12: error: unknown fill 'unifrom'
        fill: {x: unifrom}
               ^
    did you mean 'uniform'?)"},
    {"FillOfAnUnknownTensor", shuffle_file + "    fill: {w: ties}\n", 0,
     R"(case.yaml:8:12: error: unknown input 'w'; known: x
        fill: {w: ties}
               ^)"},
    {"FillOfAnOutput", shuffle_file + "    fill: {y: ties}\n", 0,
     R"(case.yaml:8:12: error: unknown input 'y'; known: x
        fill: {y: ties}
               ^)"},
    {"FillOfAList", shuffle_file + "    fill: [ties]\n", 0,
     R"(case.yaml:8:5: error: 'fill' must be a fill, {constant: NUMBER}, {npy: FILE} or {npz: FILE, member: NAME}, got a list; put several values, one case each, under 'each'
        fill: [ties]
        ^
    did you mean 'fill: {each: [ties]}'?)"},
    {"FillNpyWithoutAFile", shuffle_file + "    fill: npy\n", 0,
     R"(case.yaml:8:5: error: fill 'npy' needs a tensor and a file: fill: {x: {npy: FILE}}
        fill: npy
        ^)"},
    {"FillNpzWithoutAFile", shuffle_file + "    fill: npz\n", 0,
     R"(case.yaml:8:5: error: fill 'npz' needs a tensor, a file and a member: fill: {x: {npz: FILE, member: NAME}}
        fill: npz
        ^)"},
    {"FillOfAnUnknownMap", shuffle_file + "    fill: {x: {constnat: 3}}\n", 0,
     R"(case.yaml:8:16: error: unknown key 'constnat'
        fill: {x: {constnat: 3}}
                   ^
    did you mean 'constant'?)"},
    {"ConstantWithoutAnInput", shuffle_file + "    fill: {constant: 3}\n", 0,
     R"(case.yaml:8:12: error: 'constant' gives the values of one input, whose name is missing: write `fill: {x: {constant: NUMBER}}` for the input x
        fill: {constant: 3}
               ^)"},
    {"MemberWithoutAnInput", shuffle_file + "    fill: {npz: a.npz, member: b}\n", 0,
     R"(case.yaml:8:12: error: 'npz' gives the values of one input, whose name is missing: write `fill: {x: {npz: FILE, member: NAME}}` for the input x
        fill: {npz: a.npz, member: b}
               ^)"},
    {"ConstantOfAWord", shuffle_file + "    fill: {x: {constant: three}}\n", 0,
     R"(case.yaml:8:16: error: 'fill.x.constant' must be a finite decimal number, got the text 'three'
        fill: {x: {constant: three}}
                   ^)"},
    {"ConstantOutOfRange", shuffle_file + "    fill: {x: {constant: 300}}\n", 0,
     R"(case.yaml:8:12: error: values of 'x' must be between -128 and 127, got 300
        fill: {x: {constant: 300}}
               ^)"},
    {"ConstantWithAFraction", shuffle_file + "    fill: {x: {constant: 0.5}}\n", 0,
     R"(case.yaml:8:12: error: 'x' holds integers
        fill: {x: {constant: 0.5}}
               ^)"},
    {"ConstantScaleOfZero", quantize_file + "    fill: {scale: {constant: 0}}\n", 0,
     R"(case.yaml:6:12: error: 'scale' is a scale: every value must be finite and greater than 0, the smallest is 0
        fill: {scale: {constant: 0}}
               ^)"},
    {"UnknownTunable", shuffle_file + "    tune: {local_sise: 64}\n", 0,
     R"(case.yaml:8:12: error: unknown tunable of q8ta_pixel_shuffle impl 'fused': 'local_sise'
        tune: {local_sise: 64}
               ^
    did you mean 'local_size'?)"},
    {"TunableOfAnotherImpl", shuffle_file + R"(    impl: all
    tune: {local_size: 64}
)",
     1,
     R"(case.yaml:9:12: error: unknown tunable of q8ta_pixel_shuffle impl 'unfused': 'local_size'; it belongs to impl fused
        tune: {local_size: 64}
               ^)"},
    {"TunableOutOfRange", shuffle_file + "    tune: {local_size: 4096}\n", 0,
     R"(case.yaml:8:12: error: tune.local_size must be in 1..1024, got 4096
        tune: {local_size: 4096}
               ^)"},
    {"TunableOfAWord", shuffle_file + "    tune: {local_size: big}\n", 0,
     R"(case.yaml:8:12: error: 'tune.local_size' must be a 64-bit decimal integer, got the text 'big'
        tune: {local_size: big}
               ^)"},
    {"ToleranceLoosenedWithoutReason", shuffle_file + "    tolerance: {scale: 2}\n", 0,
     R"(case.yaml:8:17: error: tolerance.scale 2 loosens the bound of the reference: say why in 'reason'
        tolerance: {scale: 2}
                    ^)"},
    {"ToleranceNegative", shuffle_file + "    tolerance: {scale: -1}\n", 0,
     R"(case.yaml:8:17: error: tolerance.scale must be at least 0, got -1
        tolerance: {scale: -1}
                    ^)"},
    {"ToleranceOfNothing", shuffle_file + "    tolerance: {reason: because}\n", 0,
     R"(case.yaml:8:5: error: 'tolerance' needs a 'scale', 'abs', 'rel', 'ulp' or 'off_by'
        tolerance: {reason: because}
        ^)"},
    {"ToleranceOfANumber", shuffle_file + "    tolerance: 0.5\n", 0,
     R"(case.yaml:8:5: error: 'tolerance' must be a map {scale: NUMBER, abs: NUMBER, ...}, got the text '0.5'
        tolerance: 0.5
        ^)"},
    {"ToleranceWithUnknownKey", shuffle_file + "    tolerance: {scale: 1, raeson: because}\n", 0,
     R"(case.yaml:8:27: error: unknown key 'raeson'
        tolerance: {scale: 1, raeson: because}
                              ^
    did you mean 'reason'?)"},
    {"ScaleOfAnExactOutput", shuffle_file + "    tolerance: {scale: 0.5}\n", 0,
     R"(case.yaml:8:17: error: tolerance.scale multiplies bounds, but every output of this case is exact and has none
        tolerance: {scale: 0.5}
                    ^)"},
    {"AllowanceWithoutReason", dequantize_case("    tolerance: {scale: 1, ulp: 1}\n"), 0,
     R"(case.yaml:7:27: error: tolerance.ulp accepts answers that would fail without it: say why in 'reason'
        tolerance: {scale: 1, ulp: 1}
                              ^)"},
    {"AllowanceOfAnExactOutput", shuffle_file + "    tolerance: {off_by: 1, reason: because}\n", 0,
     R"(case.yaml:8:17: error: tolerance.off_by applies to bounded outputs and to those with an `expected:` file; this case has neither
        tolerance: {off_by: 1, reason: because}
                    ^)"},
    {"OffByOfFloats", dequantize_case("    tolerance: {off_by: 1, reason: because}\n"), 0,
     R"(case.yaml:7:17: error: tolerance.off_by applies to integers, but the outputs that it could apply to are floats
        tolerance: {off_by: 1, reason: because}
                    ^)"},
    {"OffByZero", dequantize_case("    tolerance: {off_by: 0, reason: because}\n"), 0,
     R"(case.yaml:7:17: error: tolerance.off_by must be at least 1, got 0
        tolerance: {off_by: 0, reason: because}
                    ^)"},
    {"OffByAFraction", dequantize_case("    tolerance: {off_by: 1.5, reason: because}\n"), 0,
     R"(case.yaml:7:17: error: 'tolerance.off_by' must be a 64-bit decimal integer, got the text '1.5'
        tolerance: {off_by: 1.5, reason: because}
                    ^)"},
    {"ShareBeyondOne", dequantize_case("    tolerance: {abs: 1, share: 1.5, reason: because}\n"), 0,
     R"(case.yaml:7:25: error: tolerance.share must be more than 0 and at most 1, got 1.5
        tolerance: {abs: 1, share: 1.5, reason: because}
                            ^)"},
    {"ShareOfNothing", dequantize_case("    tolerance: {scale: 1, share: 0.5, reason: because}\n"), 0,
     R"(case.yaml:7:27: error: tolerance.share limits how many elements may need abs, rel, ulp or off_by: give one of those
        tolerance: {scale: 1, share: 0.5, reason: because}
                              ^)"},
    {"SeedNegative", shuffle_file + "    seed: -1\n", 0,
     R"(case.yaml:8:5: error: 'seed' must be a decimal integer from 0 to 18446744073709551615, got the text '-1'
        seed: -1
        ^)"},
    {"SeedBeyond64Bits", shuffle_file + "    seed: 18446744073709551616\n", 0,
     R"(case.yaml:8:5: error: 'seed' must be a decimal integer from 0 to 18446744073709551615, got the text '18446744073709551616'
        seed: 18446744073709551616
        ^)"},
    {"ExpectedOfAnUnknownOutput", shuffle_file + "    expected: {x: {npy: a.npy}}\n", 0,
     R"(case.yaml:8:16: error: unknown output 'x'; known: y
        expected: {x: {npy: a.npy}}
                   ^)"},
    {"ExpectedWithoutNpy", shuffle_file + "    expected: {y: a.npy}\n", 0,
     R"(case.yaml:8:16: error: 'expected.y' must be a map {npy: FILE} or {npz: FILE, member: NAME}, got the text 'a.npy'
        expected: {y: a.npy}
                   ^)"},
};

INSTANTIATE_TEST_SUITE_P(Load, SettingErrors, testing::ValuesIn(setting_inputs), name_of_bad_input);

}  // namespace

}  // namespace assay::cases
