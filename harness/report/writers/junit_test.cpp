#include "harness/base/text.h"
#include "harness/report/record/words.h"
#include "tests/support/records.h"
#include "tests/support/report_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pugixml.hpp>

#include <map>
#include <set>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

pugi::xml_document parsed(const std::string& xml) {
  pugi::xml_document document;
  const auto result = document.load_buffer(xml.data(), xml.size());
  EXPECT_TRUE(result) << result.description() << " at " << result.offset;
  return document;
}

/// What the file contains about the first test besides its outcome.
std::string facts_of(const pugi::xml_document& document) {
  return document.child("testsuites").child("testsuite").child("testcase").child("system-out").text().get();
}

TEST(JunitXml, ShowsAFailureWithItsWholeStory) {
  EXPECT_TRUE(test::matches(test::junit_xml(test::report_of({test::failed("bad")})),
                            R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="assay" tests="1" failures="1" errors="0" time="0.002125">
  <testsuite name="acme-gpu-9-00010203.shuffle" tests="1" failures="1" errors="0" time="0.002125" skipped="0" timestamp="2026-01-02T03:04:05Z" hostname="rack7">
    <properties>
      <property name="run_id" value="20260102T030405Z-1a2b3c" />
      <property name="device" value="Acme GPU 9" />
      <property name="driver" value="Acme 12.3" />
      <property name="version" value="0.1.0+b1a8850ccc06" />
      <property name="seed" value="18446744073709551615" />
    </properties>
    <testcase name="shuffle/bad/1x16x4x8/4W4C.4W4C/fused" classname="acme-gpu-9-00010203.shuffle.accu" time="0.002125">
      <failure message="FAIL: 1 of 2 outputs is wrong" type="FAIL">FAIL  shuffle/bad/1x16x4x8/4W4C.4W4C/fused (accu)
  at      cases/shuffle.yaml:12
  what    wrong value
  why     1 of 2 outputs is wrong
  error   largest 3
  map     ....
          .##.
  again   assay run --filter shuffle/bad/1x16x4x8/4W4C.4W4C/fused
</failure>
      <system-out>status: FAIL
at: cases/shuffle.yaml:12
impl: fused
params: upscale_factor=2
forms: x=buffer/4W4C y=buffer/4C1W
repro: assay run --filter shuffle/bad/1x16x4x8/4W4C.4W4C/fused
output_hash: %hash
</system-out>
    </testcase>
  </testsuite>
</testsuites>
)xml"));
}

TEST(JunitXml, TellsWhatWasToleratedAndWhoseAnswerWasMissed) {
  Record record = test::failed("bad");
  EXPECT_THAT(facts_of(parsed(test::junit_xml(test::report_of({record})))),
              AllOf(Not(HasSubstr("tolerance")), Not(HasSubstr("missed"))));
  record.accuracy->tolerance = "off_by=1";
  record.accuracy->tolerance_reason = "another library";
  record.accuracy->missed = "file";
  EXPECT_THAT(facts_of(parsed(test::junit_xml(test::report_of({record})))),
              HasSubstr("\ntolerance: off_by=1\ntolerance_reason: another library\nmissed: file\n"));
}

TEST(JunitXml, TellsTheDiagnosisAndWhatTheLayerSaid) {
  Record record = test::failed("bad");
  record.accuracy->diagnosis = Diagnosis{"zero_point", "as if zero_point were 0", 1};
  record.validation_messages = 1;
  record.validation_texts = {"a hazard"};
  const pugi::xml_document document = parsed(test::junit_xml(test::report_of({record})));
  const pugi::xml_node test = document.child("testsuites").child("testsuite").child("testcase");
  EXPECT_EQ(test.child("failure").attribute("message").value(),
            std::string("FAIL, zero point: 1 of 2 outputs is wrong"));
  EXPECT_THAT(test.child("failure").text().get(), HasSubstr("zero point: as if zero_point were 0"));
  EXPECT_THAT(facts_of(document), HasSubstr("\nvalidation: 1 message from the validation layer\na hazard\n"));
}

TEST(JunitXml, MapsEachStatus) {
  const std::map<Status, std::string> table = {
      {Status::Pass, ""},
      {Status::Unsupported, "skipped"},
      {Status::Invalid, "skipped"},
      {Status::Skipped, "skipped"},
      {Status::ExpectedFail, "skipped"},
      {Status::Fail, "failure"},
      {Status::Mistrusted, "failure"},
      {Status::Suspect, "failure"},
      {Status::Crash, "error"},
      {Status::Timeout, "error"},
      {Status::OutOfMemory, "failure"},
      {Status::Flaky, "failure"},
      {Status::UnexpectedPass, "failure"},
      {Status::DeviceLost, "error"},
      {Status::Missing, "error"},
      {Status::Interrupted, "error"},
  };
  for (const auto& [status, element] : table) {
    const RunReport report = test::report_of({test::without_answer("one", status, "because")});
    const pugi::xml_document document = parsed(test::junit_xml(report));
    const pugi::xml_node suite = document.child("testsuites").child("testsuite");
    const pugi::xml_node test = suite.child("testcase");
    for (const char* each : {"failure", "error", "skipped"}) {
      EXPECT_EQ(static_cast<bool>(test.child(each)), element == each) << name_of(status) << ' ' << each;
    }
    if (!element.empty()) {
      EXPECT_EQ(test.child(element.c_str()).attribute("message").value(),
                std::string(name_of(status)) + ": because");
    }
    const auto count = [&](const char* name) { return suite.attribute(name).as_int(); };
    EXPECT_EQ(count("tests"), 1);
    EXPECT_EQ(count("failures") + 10 * count("errors") + 100 * count("skipped"), element == "failure"   ? 1
                                                                                 : element == "error"   ? 10
                                                                                 : element == "skipped" ? 100
                                                                                                        : 0)
        << name_of(status);
  }
}

TEST(JunitXml, IsASuiteAnOpAndAClassAMode) {
  Record other = test::passed("other");
  other.info.op = "another";
  const RunReport report = test::report_of({test::passed("a"), other, test::timed("a", "fused", 2.5)});
  const pugi::xml_document document = parsed(test::junit_xml(report));
  const pugi::xml_node root = document.child("testsuites");
  EXPECT_EQ(root.attribute("tests").as_int(), 3);
  EXPECT_EQ(root.find_child_by_attribute("name", "acme-gpu-9-00010203.another").attribute("tests").as_int(),
            1);
  const pugi::xml_node suite = root.find_child_by_attribute("name", "acme-gpu-9-00010203.shuffle");
  EXPECT_EQ(suite.attribute("tests").as_int(), 2);
  EXPECT_TRUE(suite.find_child_by_attribute("classname", "acme-gpu-9-00010203.shuffle.accu"));
  const pugi::xml_node perf = suite.find_child_by_attribute("classname", "acme-gpu-9-00010203.shuffle.perf");
  EXPECT_THAT(perf.child("system-out").text().get(), HasSubstr("\ntime_us_p50: 2.5000\n"));
}

TEST(JunitXml, KeepsNastyTextReadable) {
  Record odd = test::failed("odd");
  odd.reason = test::nasty;
  const pugi::xml_document document = parsed(test::junit_xml(test::report_of({odd})));
  const pugi::xml_node failure =
      document.child("testsuites").child("testsuite").child("testcase").child("failure");
  EXPECT_EQ(failure.text().get(), failure_text(odd));
  // XML readers turn line ends in attributes into blanks unless they are written as references.
  EXPECT_EQ(failure.attribute("message").value(), "FAIL: " + printable(test::nasty));
}

TEST(JunitXml, IsAnEmptyListWithoutRecords) {
  const pugi::xml_document document = parsed(test::junit_xml(test::report_of({})));
  EXPECT_EQ(document.child("testsuites").attribute("tests").as_int(-1), 0);
}

// ---- what the readers of these files want

/// Of an element of the schema junit-10.xsd, with which Jenkins' xUnit plugin checks a file before it reads
/// it: what must and what may be there. Anything else makes it refuse the file.
struct ElementRule {
  std::set<std::string> required, optional, children;
  bool has_text = false;
};

const std::map<std::string, ElementRule> xunit_rules = {
    {"testsuites",
     {.required = {},
      .optional = {"name", "time", "tests", "failures", "errors"},
      .children = {"testsuite"}}},
    {"testsuite",
     {.required = {"name", "tests", "failures", "errors"},
      .optional = {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log",
                   "url"},
      .children = {"testsuite", "properties", "testcase", "system-out", "system-err"}}},
    {"properties", {.required = {}, .optional = {}, .children = {"property"}}},
    {"property", {.required = {"name", "value"}}},
    {"testcase",
     {.required = {"name"},
      .optional = {"time", "classname", "group"},
      .children = {"skipped", "error", "failure", "system-out", "system-err"}}},
    {"skipped", {.required = {}, .optional = {"type", "message"}, .children = {}, .has_text = true}},
    {"error", {.required = {}, .optional = {"type", "message"}, .children = {}, .has_text = true}},
    {"failure", {.required = {}, .optional = {"type", "message"}, .children = {}, .has_text = true}},
    {"system-out", {.required = {}, .optional = {}, .children = {}, .has_text = true}},
};

void expect_valid(pugi::xml_node node) {
  const std::string name = node.name();
  ASSERT_TRUE(xunit_rules.contains(name)) << name;
  const ElementRule& rule = xunit_rules.at(name);
  for (const std::string& required : rule.required)
    EXPECT_TRUE(node.attribute(required.c_str())) << name << " has no " << required;
  for (const pugi::xml_attribute attribute : node.attributes()) {
    EXPECT_TRUE(rule.required.contains(attribute.name()) || rule.optional.contains(attribute.name()))
        << name << " has " << attribute.name();
    if (attribute.name() != std::string("time")) continue;
    EXPECT_THAT(attribute.value(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+"));
  }
  for (const pugi::xml_node child : node.children()) {
    if (child.type() == pugi::node_pcdata) {
      EXPECT_TRUE(rule.has_text) << name << " has text";
    } else {
      EXPECT_TRUE(rule.children.contains(child.name())) << name << " holds " << child.name();
      expect_valid(child);
    }
  }
}

TEST(JunitXml, HasOnlyWhatJenkinsXunitPluginTakes) {
  const pugi::xml_document document = parsed(test::junit_xml(test::report_of(test::all_kinds())));
  expect_valid(document.child("testsuites"));
  const pugi::xml_document empty = parsed(test::junit_xml(test::report_of({})));
  expect_valid(empty.child("testsuites"));
}

/// GitLab takes tests of one class and name for one.
std::set<std::string> keys_of(const std::string& xml) {
  const pugi::xml_document document = parsed(xml);
  std::set<std::string> keys;
  for (const pugi::xpath_node test : document.select_nodes("//testcase")) {
    keys.insert(std::string(test.node().attribute("classname").value()) + '\n' +
                test.node().attribute("name").value());
  }
  return keys;
}

TEST(JunitXml, OfSeveralDevicesHasNoTwoTestsOfOneName) {
  Record cold = test::timed("a", "fused", 3);
  cold.info.cache = "cold";
  const std::vector<Record> rows = {test::passed("a"), test::timed("a", "fused", 2.5), cold};
  RunReport here = test::report_of(rows), twin = test::report_of(rows), other = test::report_of(rows);
  twin.run.device.uuid = "ffff02030405060708090a0b0c0d0e0f";
  other.run.device.name = "Other GPU 1.5";
  std::set<std::string> keys = keys_of(test::junit_xml(here));
  EXPECT_EQ(keys.size(), 3U);
  keys.merge(keys_of(test::junit_xml(twin)));
  EXPECT_EQ(keys.size(), 6U) << "two equal GPUs";
  keys.merge(keys_of(test::junit_xml(other)));
  EXPECT_EQ(keys.size(), 9U);
}

TEST(JunitXml, HasClassesThatJenkinsCutsBehindTheOp) {
  RunReport report = test::report_of({test::passed("a")});
  report.run.device.name = "llvmpipe (LLVM 15.0.6, 256 bits)";
  const std::string name =
      parsed(test::junit_xml(report)).select_node("//testcase/@classname").attribute().value();
  EXPECT_EQ(name.substr(0, name.rfind('.')), "llvmpipe-llvm-15-0-6-256-bits-00010203.shuffle");
}

}  // namespace
}  // namespace assay
