#include "harness/cases/tests/bad_input_test_support.h"

// Tests errors in fill, forms, impl, tune, tolerance, expected and seed.

namespace assay::cases {
namespace {

using namespace test;

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
    {"FillOfAnUnknownMap", shuffle_file + "    fill: {x: {constnat: 3}}\n", 0,
     R"(case.yaml:8:16: error: unknown key 'constnat'
        fill: {x: {constnat: 3}}
                   ^
    did you mean 'constant'?)"},
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
