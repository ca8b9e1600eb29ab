#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include <fmt/core.h>
#include <zlib.h>

#include "sim/words.hpp"
#include "tests/fuzz/request.hpp"
#include "tests/fuzz/subjects.hpp"
#include "tests/fuzz/watch.hpp"

namespace athanor::fuzz {

namespace {

namespace files = std::filesystem;

constexpr unsigned kMostChanges = 6;

std::string compressed(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string result(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

/// Inputs by their numbers: which reader, which seed, which changes.
class Inputs {
 public:
  Inputs(std::vector<Subject> subjects, std::uint64_t seed) : subjects_(std::move(subjects)), seed_(seed) {
    for (std::uint32_t s = 0; s < subjects_.size(); ++s) { tickets_.insert(tickets_.end(), subjects_[s].weight, s); }
  }

  const std::vector<Subject>& subjects() const { return subjects_; }
  std::uint32_t subject_of(std::uint64_t index) const { return tickets_[random_of(index).below(tickets_.size())]; }

  unsigned changes_of(std::uint64_t index) const {
    RandomStream random(seed_, fmt::format("changes {}", index));
    unsigned changes = 1;
    while (changes < kMostChanges && random.below(2) == 0) { ++changes; }
    return changes;
  }

  std::string content(std::uint64_t index, unsigned changes) const {
    RandomStream random = random_of(index);
    const Subject& subject = subjects_[tickets_[random.below(tickets_.size())]];
    const Seed& from = subject.seeds[random.below(subject.seeds.size())];
    std::string content = mutated(from, subject.seeds, subject.form, changes, random);
    if (!subject.compressed) { return content; }
    content = compressed(content);
    if (random.below(2) == 0) { change_bytes(content, subject.seeds, random); }
    return content;
  }

  /// Seeds that are refused as they stand: of what is made from them nothing gets past the first error.
  std::vector<std::string> refused_seeds() const {
    std::vector<std::string> refused;
    for (const Subject& subject : subjects_) {
      for (const Seed& seed : subject.seeds) {
        write(subject, subject.compressed ? compressed(seed.content) : seed.content);
        const Ended ended = subject.read(subject.file);
        if (ended.code != 0) { refused.push_back(fmt::format("{} {}: {}", subject.name, seed.path, ended.text)); }
      }
    }
    return refused;
  }

  /// One at a time: the file has one name.
  Verdict attempt(std::uint64_t index, unsigned changes) const {
    const std::uint32_t group = subject_of(index);
    const Subject& subject = subjects_[group];
    write(subject, content(index, changes));
    const Ended ended = subject.read(subject.file);
    const int outcome = std::clamp(ended.code, 0, static_cast<int>(kMostOutcomes) - 1);
    return {group, static_cast<std::uint32_t>(outcome), fault_in(ended, subject.may_want_memory)};
  }

 private:
  static void write(const Subject& subject, const std::string& text) {
    std::ofstream file(subject.file, std::ios::binary | std::ios::trunc);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
  }

  RandomStream random_of(std::uint64_t index) const { return {seed_, fmt::format("input {}", index)}; }

  std::vector<Subject> subjects_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> tickets_;
};

/// Faults of one kind differ in numbers and names.
std::string kind_of(const std::string& what) {
  std::string kind;
  for (const char c : what.substr(0, 90)) {
    if (c < '0' || c > '9') { kind += c; }
  }
  return kind;
}

class Fuzzing {
 public:
  Fuzzing(const Request& request, Inputs inputs)
      : inputs_(std::move(inputs)), keep_(request.text("keep", "fuzz-findings")), wanted_(watch_of(request, 10'000)) {}

  int run(std::uint64_t seed) {
    const Try one = [&](std::uint64_t index) { return inputs_.attempt(index, inputs_.changes_of(index)); };
    const Watched watched = watch(wanted_, one, [&](const Fault& fault) { take(fault); });
    print(watched, seed);
    return watched.faults.empty() ? 0 : 1;
  }

 private:
  /// Said and kept once for each kind, with as few changes as show it.
  void take(const Fault& fault) {
    const std::uint32_t group = inputs_.subject_of(fault.index);
    const Subject& subject = inputs_.subjects()[group];
    if (++kinds_[subject.name + ": " + kind_of(fault.what)] > 1) { return; }
    unsigned changes = 1;
    for (; changes < inputs_.changes_of(fault.index); ++changes) {
      const Try fewer = [&](std::uint64_t index) { return inputs_.attempt(index, changes); };
      if (kind_of(fault_of(wanted_, fewer, fault.index)) == kind_of(fault.what)) { break; }
    }
    files::create_directories(keep_);
    const std::string ending = files::path(subject.file).filename().string().substr(6);  // behind "fuzzed"
    const std::string path = (files::path(keep_) / fmt::format("{}-{}{}", subject.name, fault.index, ending)).string();
    const std::string content = inputs_.content(fault.index, changes);
    std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    fmt::print("input {} ({}): {}\n  kept as {}\n", fault.index, subject.name, fault.what, path);
    std::fflush(stdout);
  }

  void print(const Watched& watched, std::uint64_t seed) const {
    fmt::print("{:<22} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "reader", "read", "failed", "usage", "refused", "file");
    for (std::size_t group = 0; group < inputs_.subjects().size(); ++group) {
      const auto& by_code = watched.outcomes[group];
      fmt::print("{:<22} {:>10} {:>10} {:>10} {:>10} {:>10}\n", inputs_.subjects()[group].name, by_code[0], by_code[1],
                 by_code[2], by_code[3], by_code[4]);
    }
    for (const auto& [kind, times] : kinds_) { fmt::print("{} times: {}\n", times, kind); }
    fmt::print("{} inputs for {} readers from seed {} in {:.1f} s ({:.0f} a second): {} faults\n", watched.tries,
               inputs_.subjects().size(), seed, watched.seconds, static_cast<double>(watched.tries) / watched.seconds,
               watched.faults.size());
  }

  Inputs inputs_;
  std::string keep_;
  Watch wanted_;
  std::map<std::string, std::uint64_t> kinds_;
};

std::vector<Subject> chosen(std::vector<Subject> all, const std::string& names) {
  if (names.empty()) { return all; }
  const std::string list = "," + names + ",";
  std::erase_if(all, [&](const Subject& each) { return list.find("," + each.name + ",") == std::string::npos; });
  if (all.empty()) { throw std::runtime_error("--readers names none that there is"); }
  return all;
}

int main_of(const Request& request) {
  const Scratch scratch;
  const std::string scenarios = files::absolute(request.text("scenarios", "scenarios")).string();
  const std::string seeds = files::absolute(request.text("seeds", "tests/fuzz/seeds")).string();
  const std::uint64_t seed = request.number("seed", 1);
  Inputs inputs(chosen(subjects(scenarios, seeds, scratch.path()), request.text("readers", "")), seed);
  if (!request.text("show", "").empty()) {
    const std::uint64_t index = request.number("show", 0);
    fmt::print("{}", inputs.content(index, inputs.changes_of(index)));
    return 0;
  }
  if (const auto refused = inputs.refused_seeds(); !refused.empty()) {
    throw std::runtime_error(fmt::format("seeds that are not read:\n{}", joined(refused, "")));
  }
  return Fuzzing(request, std::move(inputs)).run(seed);
}

}  // namespace

}  // namespace athanor::fuzz

int main(int count, char** words) {
  return athanor::fuzz::run_program("fuzz_inputs", count, words, athanor::fuzz::main_of);
}
