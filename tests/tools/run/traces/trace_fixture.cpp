#include "tests/tools/run/traces/trace_fixture.hpp"

#include <stdexcept>

#include <zlib.h>

#include "models/workload/run_workload.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tests/test_files.hpp"

namespace athanor::test {

namespace {

std::string varint(std::uint64_t value) {
  std::string text;
  for (; value > 0x7F; value >>= 7) { text += static_cast<char>((value & 0x7F) | 0x80); }
  return text + static_cast<char>(value);
}
std::string number(std::uint64_t field, std::uint64_t value) { return varint(field << 3) + varint(value); }
std::string block(std::uint64_t field, const std::string& content) {
  return varint(field << 3 | 2) + varint(content.size()) + content;
}

}  // namespace

bool ReadTrace::notes(const std::string& text) const {
  for (const std::string& note : trace.notes) {
    if (note.find(text) != std::string::npos) { return true; }
  }
  return false;
}

ReadTrace read(const std::vector<std::string>& files, const TraceOptions& options) {
  Problems problems;
  ReadTrace result{read_trace(FileReader(), files, options, problems), ""};
  for (const Problem& problem : problems.list()) { result.problems += describe(problem) + "\n"; }
  return result;
}

std::string example(const std::string& name) { return ATHANOR_TEST_SCENARIOS "/traces/" + name; }

Time run_with(const Workload& workload, Time call, Time message) {
  CallEstimate of_call;
  of_call.time = call;
  of_call.shares = std::make_shared<const std::vector<LinkShare>>();
  CallEstimate of_message = of_call;
  of_message.time = message;
  WorkloadEstimates estimates;
  estimates.estimates = {&of_call, &of_message};
  estimates.of_call.assign(workload.calls.size(), 0);
  for (const Workload::Worker& worker : workload.workers) {
    for (const Workload::Operation& operation : worker.operations) {
      if (operation.kind != Workload::Kind::send) { continue; }
      estimates.of_message[{operation.subject, operation.size}] = 1;
    }
  }
  return run_workload(workload, estimates, {}).time;
}

std::string compressed(const std::string& text) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&stream, 6, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) { throw std::runtime_error("zlib"); }
  std::string result(deflateBound(&stream, text.size()), '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<unsigned>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<unsigned>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

ChakraFile::ChakraFile() {
  const std::string metadata = block(1, "0.0.4");
  text_ = varint(metadata.size()) + metadata;
}

ChakraFile& ChakraFile::add(const Node& node) {
  std::string message = number(1, node.id) + block(2, node.name) + number(3, node.type);
  std::string list;
  for (const std::uint64_t other : node.after) { list += node.packed ? varint(other) : number(5, other); }
  if (!list.empty()) { message += node.packed ? block(5, list) : list; }
  if (node.micros > 0) { message += number(7, node.micros); }
  if (!node.inputs.empty()) { message += block(8, block(1, node.inputs)); }
  for (const auto& [name, value] : node.numbers) { message += block(10, block(1, name) + number(9, value)); }
  if (!node.group.empty()) { message += block(10, block(1, "pg_name") + block(29, node.group)); }
  text_ += varint(message.size()) + message;
  return *this;
}

ChakraFile& ChakraFile::all_reduce(std::uint64_t id, std::uint64_t size) {
  return add({.id = id, .name = "all-reduce", .type = 7, .numbers = {{"comm_type", 0}, {"comm_size", size}}});
}

}  // namespace athanor::test
