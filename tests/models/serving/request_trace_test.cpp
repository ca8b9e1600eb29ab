#include "models/serving/request_trace.hpp"

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/models/jobs/read_log.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

ServedRequests read(std::string_view text) {
  const FileOfText file("requests", text);
  return read_request_trace(file.path());
}

Problem problem_of(std::string_view text) {
  try {
    read(text);
  } catch (const ScenarioError& error) { return error.problems().front(); }
  FAIL("nothing was refused");
  return {};
}

}  // namespace

TEST_CASE("traces of Azure are read with dates of both years, from the first request on") {
  const ServedRequests conversations = read(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2023-11-16 18:15:46.6805900,374,44\r\n"
      "2023-11-16 18:15:50.9951690,396,109\r\n");
  CHECK(conversations == ServedRequests{{Time::zero(), 374, 44}, {4'314'579_us, 396, 109}});
  const ServedRequests later = read(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2024-05-10 23:59:59.5+00:00,10,0\n"
      "2024-05-11 00:00:00.009930+00:00,2162,5\n");
  CHECK(later == ServedRequests{{Time::zero(), 10, 1}, {509'930_us, 2162, 5}});
}

TEST_CASE("traces of Mooncake and plain tables are read") {
  const ServedRequests lines = read(
      "{\"timestamp\": 27482, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [46, 47]}\n"
      "{\"timestamp\": 30535, \"input_length\": 6472, \"output_length\": 26, \"hash_ids\": []}\n");
  CHECK(lines == ServedRequests{{Time::zero(), 6955, 52}, {3053_ms, 6472, 26}});
  const ServedRequests plain = read("id,prompt,output,arrival\na,5,6,1.25\nb,7,8,1.25\nc,1,1,2\n");
  CHECK(plain == ServedRequests{{Time::zero(), 5, 6}, {Time::zero(), 7, 8}, {750_ms, 1, 1}});
}

TEST_CASE("what is no request is refused with its line") {
  const std::string head = "arrival,prompt,output\n";
  CHECK(problem_of("arrival,prompt\n0,1\n").code == "missing-column");
  CHECK(problem_of(head).code == "no-requests");
  const Problem late = problem_of(head + "0,1,1\n1,1,1\n0.5,1,1\n");
  CHECK(late.code == "wrong-order");
  CHECK(late.place.line == 4);
  CHECK(problem_of(head + "x,1,1\n").code == "no-time");
  CHECK(problem_of(head + "0,0,1\n").code == "no-tokens");
  CHECK(problem_of(head + "0,1.5,1\n").code == "no-tokens");
  CHECK(problem_of(head + "0,1,-1\n").code == "no-tokens");
  CHECK(problem_of(head + "0,1,1\n1e9,1,1\n").code == "out-of-range");
  CHECK(problem_of("{\"timestamp\": 0, \"input_length\": 5}\n").code == "no-tokens");
  CHECK(problem_of("{\"input_length\": 5, \"output_length\": 5}\n").code == "no-time");
  const Problem broken = problem_of("{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 5}\n{\"timestamp\"\n");
  CHECK(broken.code == "no-json");
  CHECK(broken.place.line == 2);
  CHECK(problem_of("TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,1\n").code == "no-time");
}

TEST_CASE("what a request lacks is named, and what was found instead") {
  const auto message = [](std::string_view text) { return problem_of(text).message; };
  const std::string head = "arrival,prompt,output\n";
  CHECK(message(head + "x,1,1\n") == "'arrival' is 'x': no time at which the request arrives");
  CHECK(message(head + "0,1.5,1\n") == "'prompt' is '1.5': no whole number of 1 to 1000000000 tokens");
  CHECK(message(head + "0,1\n") == "there is no 'output'");
  CHECK(message("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,1,-2\n") ==
        "'GeneratedTokens' is '-2': no whole number of 0 to 1000000000 tokens");
  CHECK(message("{\"timestamp\": 0, \"input_length\": 5}\n") == "there is no 'output_length'");
  CHECK(message("{\"timestamp\": 0, \"input_length\": \"5\", \"output_length\": 5}\n") ==
        "'input_length' is \"5\": no whole number of 1 to 1000000000 tokens");
}
