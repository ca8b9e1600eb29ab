#include "sim/timeline.hpp"

#include <filesystem>
#include <stdexcept>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tests/json_text.hpp"

using namespace athanor;
using namespace athanor::literals;
using nlohmann::json;

namespace {

/// A file that is gone after the test.
struct ScratchFile {
  std::string path;
  explicit ScratchFile(const std::string& name) : path((std::filesystem::temp_directory_path() / name).string()) {}
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { std::filesystem::remove(path); }
};

json events_of(const std::string& path) { return json_in_file(path).at("traceEvents"); }

}  // namespace

TEST_CASE("a timeline holds what was recorded, in Chrome's trace event format") {
  const ScratchFile file("athanor_timeline_full.json");
  Timeline timeline(file.path);
  const ProcessId process = timeline.add_process("node \"0\"\n");
  const Track track = timeline.add_track(process, "GPU\\0");
  timeline.span(track, "send", "network", 1_ps, 1500_ns + 1_ps, {{"bytes", 8}, {"to", "rank 1"}});
  timeline.close();
  const json events = events_of(file.path);
  REQUIRE(events.size() == 5);
  CHECK(events[0]["args"]["name"] == "node \"0\"\n");
  CHECK(events[1]["name"] == "process_sort_index");
  CHECK(events[2]["args"]["name"] == "GPU\\0");
  CHECK(events[3]["args"]["sort_index"] == 1);
  CHECK(events[4]["ph"] == "X");
  CHECK(events[4]["pid"] == process.value);
  CHECK(events[4]["tid"] == track.thread);
  CHECK(events[4]["cat"] == "network");
  CHECK(events[4]["args"] == json{{"bytes", 8}, {"to", "rank 1"}});
}

TEST_CASE("a timeline counts what is counted from then on") {
  const ScratchFile file("athanor_timeline_counter.json");
  Timeline timeline(file.path);
  const ProcessId process = timeline.add_process("cluster");
  timeline.counter(process, "jobs", 2_us, {{"running", 3}, {"waiting", 5}});
  timeline.close();
  const json event = events_of(file.path).back();
  CHECK(event["ph"] == "C");
  CHECK(event["pid"] == process.value);
  CHECK(event["name"] == "jobs");
  CHECK(event["ts"] == 2.0);
  CHECK(event["args"] == json{{"running", 3}, {"waiting", 5}});
}

TEST_CASE("a timeline is UTF-8, whatever names there are") {
  const ScratchFile file("athanor_timeline_names.json");
  Timeline timeline(file.path);
  timeline.add_process("\xff na\xc3\xafve");
  timeline.close();
  CHECK(events_of(file.path)[0]["args"]["name"] == "\\xff na\xc3\xafve");
}

TEST_CASE("times keep every picosecond") {
  const ScratchFile file("athanor_timeline_time.json");
  Timeline timeline(file.path);
  const Track track = timeline.add_track(timeline.add_process("p"), "t");
  timeline.span(track, "s", "c", 1_ps, Time{9'000'000'000'000'000'001});
  timeline.close();
  const std::string text = read_text_file(file.path);
  CHECK(text.find("\"ts\":0.000001,\"dur\":9000000000000.000000}") != std::string::npos);
}

TEST_CASE("a timeline without events, and one that an exception ends, are valid") {
  const ScratchFile file("athanor_timeline_short.json");
  { const Timeline timeline(file.path); }
  CHECK(events_of(file.path).empty());
  try {
    Timeline timeline(file.path);
    timeline.span(timeline.add_track(timeline.add_process("p"), "t"), "last", "c", 0_ps, 1_ps);
    throw std::runtime_error("the run fails");
  } catch (const std::runtime_error&) { CHECK(events_of(file.path).back()["name"] == "last"); }
}

TEST_CASE("a long timeline goes to the file as it grows") {
  const ScratchFile file("athanor_timeline_long.json");
  Timeline timeline(file.path);
  const Track track = timeline.add_track(timeline.add_process("p"), "t");
  for (int i = 0; i < 20'000; ++i) { timeline.span(track, "step", "c", 1_ns * i, 1_ns * (i + 1), {{"step", i}}); }
  // Beside what it will take the place of.
  std::uintmax_t written = 0;
  const std::filesystem::path path(file.path);
  for (const auto& each : std::filesystem::directory_iterator(path.parent_path())) {
    const bool beside = each.path().filename().string().find(path.filename().string()) != std::string::npos;
    if (beside && each.is_regular_file()) { written = std::max(written, each.file_size()); }
  }
  CHECK(written > 1'000'000);
  timeline.close();
  const json events = events_of(file.path);
  CHECK(events.size() == 20'004);
  CHECK(events.back()["args"]["step"] == 19'999);
}

TEST_CASE("a timeline that cannot be written is an error of the file, wrong use a broken invariant") {
  CHECK_THROWS_AS(Timeline("no/such/folder/timeline.json"), FileError);
  const ScratchFile file("athanor_timeline_misuse.json");
  Timeline timeline(file.path);
  const Track track = timeline.add_track(timeline.add_process("p"), "t");
  CHECK_THROWS(timeline.span(track, "backwards", "c", 2_ps, 1_ps));
  timeline.close();
  CHECK_THROWS(timeline.close());
  CHECK_THROWS(timeline.span(track, "late", "c", 1_ps, 2_ps));
}
