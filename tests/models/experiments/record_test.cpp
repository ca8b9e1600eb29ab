#include "models/experiments/record.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/experiments/table.hpp"

using namespace athanor;

namespace {

constexpr Column kSize{"bytes", "size", "(B)", 8, Format::count};
constexpr Column kTook{"time_us", "time", "(us)", 7};
constexpr Column kShare{"", "share", "(%)", 7, Format::percent};
constexpr Column kHow{"how", "how", "", 6, Format::text, 2};
constexpr Column kParts{"parts"};

Record row(int size, double time) {
  Record record;
  record.put(kSize, size);
  record.put(kTook, time);
  record.put(kShare, 0.5);
  record.put(kHow, "ring");
  return record;
}

ResultTable table() { return ResultTable({&kSize, &kTook, &kShare, &kHow}); }

}  // namespace

TEST_CASE("a column is a key of JSON where it has one, and a column of tables where it has a head") {
  CHECK(text_of(row(8, 1.5).json()) == R"({"bytes":8,"time_us":1.5,"how":"ring"})");
  CHECK(table().head() == "#   size    time   share  how\n#    (B)    (us)     (%)\n");
  CHECK(table().lines(row(8, 1.5)) == "       8    1.50   50.00  ring\n");
}

TEST_CASE("a value that is put again stays in its place") {
  Record record = row(8, 1.5);
  record.put(kSize, 16);
  CHECK(text_of(record.json()) == R"({"bytes":16,"time_us":1.5,"how":"ring"})");
}

TEST_CASE("what a record lacks is a dash within the line, and nothing at its end") {
  Record record;
  record.put(kSize, 8);
  record.put(kShare, 0.25);
  CHECK(table().lines(record) == "       8       -   25.00\n");
}

TEST_CASE("a star marks a line outside of what its profile was fitted on, and remarks follow it") {
  Record record = row(8, 1.5);
  record.put(kExtrapolated, true);
  record.remarks.push_back("the busiest link");
  CHECK(table().lines(record) == "       8    1.50   50.00  ring *\n#   the busiest link\n");
}

TEST_CASE("parts of a record are a list in JSON, and lines of their own in tables and CSV") {
  Record record;
  record.put(kTook, 9.0);
  record.put(kHow, "all");
  record.put_parts(kParts, {row(8, 1.0), row(16, 2.0)});
  CHECK(
      text_of(record.json()) ==
      R"({"time_us":9.0,"how":"all","parts":[{"bytes":8,"time_us":1.0,"how":"ring"},{"bytes":16,"time_us":2.0,"how":"ring"}]})");
  REQUIRE(record.lines().size() == 2);
  CHECK(record.lines()[1].number(kTook) == 2);
  CHECK(csv_document(std::vector<const Column*>{&kSize}, {record}) == "bytes,time_us,how\n8,1.0,ring\n16,2.0,ring\n");
}

TEST_CASE("percentiles of repetitions are values that occurred, by nearest rank") {
  for (const int count : {1, 2, 3, 19, 20, 21, 100}) {
    CAPTURE(count);
    std::vector<Record> records;
    for (int i = count; i > 0; --i) { records.push_back(row(1, i)); }
    Repetitions all(std::move(records), kTook);
    for (const int p : {5, 50, 95}) {
      const double value = all.percentile(p).number(kTook);
      CHECK(100 * value >= p * count);       // at least p of all hundred do not exceed it
      CHECK(100 * (value - 1) < p * count);  // and not so many exceed the value before
    }
    CHECK(all.count() == static_cast<std::size_t>(count));
  }
}

TEST_CASE("CSV has the asked columns first, and joins lists by semicolons") {
  Record record;
  record.put(kHow, std::vector<std::string>{"a", "b,c"});
  CHECK(csv_document(std::vector<const Column*>{&kSize}, {record}) == "bytes,how\n,\"a; b,c\"\n");
}
