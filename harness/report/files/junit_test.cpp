#include "harness/base/text.h"
#include "harness/report/files/writers.h"
#include "harness/report/record/words.h"
#include "tests/support/golden_text.h"
#include "tests/support/records.h"

#include <gtest/gtest.h>
#include <pugixml.hpp>

namespace assay {
namespace {

pugi::xml_document parsed(const std::string& xml) {
  pugi::xml_document document;
  const auto result = document.load_buffer(xml.data(), xml.size());
  EXPECT_TRUE(result) << result.description() << " at " << result.offset;
  return document;
}

TEST(JunitXml, ShowsAFailureWithItsWholeStory) {
  EXPECT_TRUE(test::matches(junit_xml(test::report_of({test::failed("bad")})),
                            R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="assay" tests="1" failures="1" errors="0" skipped="0" time="0.002125">
  <testsuite name="shuffle" tests="1" failures="1" errors="0" skipped="0" time="0.002125" timestamp="2026-01-02T03:04:05Z">
    <properties>
      <property name="run_id" value="20260102T030405Z-1a2b3c" />
      <property name="device" value="Acme GPU 9" />
      <property name="driver" value="Acme 12.3" />
      <property name="version" value="0.1.0+b1a8850ccc06" />
      <property name="seed" value="18446744073709551615" />
    </properties>
    <testcase name="shuffle/bad/1x16x4x8/4W4C.4W4C/fused" classname="shuffle.accu" time="0.002125" file="cases/shuffle.yaml" line="12">
      <properties>
        <property name="status" value="FAIL" />
        <property name="impl" value="fused" />
        <property name="repro" value="assay run --filter shuffle/bad/1x16x4x8/4W4C.4W4C/fused" />
        <property name="output_hash" value="%hash" />
      </properties>
      <failure message="FAIL: 1 of 2 outputs is wrong" type="FAIL">FAIL  shuffle/bad/1x16x4x8/4W4C.4W4C/fused (accu)
  at      cases/shuffle.yaml:12
  what    wrong value
  why     1 of 2 outputs is wrong
  error   largest 3
  map     ....
          .##.
  again   assay run --filter shuffle/bad/1x16x4x8/4W4C.4W4C/fused
</failure>
    </testcase>
  </testsuite>
</testsuites>
)xml"));
}

TEST(JunitXml, TellsWhatWasToleratedAndWhoseAnswerWasMissed) {
  Record record = test::failed("bad");
  const pugi::xml_document plain = parsed(junit_xml(test::report_of({record})));
  EXPECT_FALSE(plain.select_node("//testcase//property[@name='tolerance']"));
  EXPECT_FALSE(plain.select_node("//testcase//property[@name='missed']"));
  record.accuracy->tolerance = "off_by=1";
  record.accuracy->tolerance_reason = "another library";
  record.accuracy->missed = "file";
  const pugi::xml_document document = parsed(junit_xml(test::report_of({record})));
  const auto property = [&](const std::string& name) {
    return std::string(document.select_node(("//testcase//property[@name='" + name + "']/@value").c_str())
                           .attribute()
                           .value());
  };
  EXPECT_EQ(property("tolerance"), "off_by=1");
  EXPECT_EQ(property("tolerance_reason"), "another library");
  EXPECT_EQ(property("missed"), "file");
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
    const pugi::xml_document document = parsed(junit_xml(report));
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
  const pugi::xml_document document = parsed(junit_xml(report));
  const pugi::xml_node root = document.child("testsuites");
  EXPECT_EQ(root.attribute("tests").as_int(), 3);
  EXPECT_EQ(root.find_child_by_attribute("name", "another").attribute("tests").as_int(), 1);
  const pugi::xml_node suite = root.find_child_by_attribute("name", "shuffle");
  EXPECT_EQ(suite.attribute("tests").as_int(), 2);
  EXPECT_TRUE(suite.find_child_by_attribute("classname", "shuffle.accu"));
  const pugi::xml_node perf = suite.find_child_by_attribute("classname", "shuffle.perf");
  EXPECT_STREQ(
      perf.child("properties").find_child_by_attribute("name", "time_us_p50").attribute("value").value(),
      "2.5000");
}

TEST(JunitXml, KeepsNastyTextReadable) {
  Record odd = test::failed("odd");
  odd.reason = test::nasty;
  const pugi::xml_document document = parsed(junit_xml(test::report_of({odd})));
  const pugi::xml_node failure =
      document.child("testsuites").child("testsuite").child("testcase").child("failure");
  EXPECT_EQ(failure.text().get(), failure_text(odd));
  // XML readers turn line ends in attributes into blanks unless they are written as references.
  EXPECT_EQ(failure.attribute("message").value(), "FAIL: " + printable(test::nasty));
}

TEST(JunitXml, IsAnEmptyListWithoutRecords) {
  const pugi::xml_document document = parsed(junit_xml(test::report_of({})));
  EXPECT_EQ(document.child("testsuites").attribute("tests").as_int(-1), 0);
}

}  // namespace
}  // namespace assay
