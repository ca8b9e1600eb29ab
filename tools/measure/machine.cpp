#include "tools/measure/machine.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include <fmt/core.h>
#include <sys/utsname.h>

#include "sim/format.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

using Lines = std::vector<std::string>;

/// None where there is no such file.
Lines lines_of(const std::string& path) {
  Lines lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) { lines.push_back(line); }
  return lines;
}

std::string first_line(const std::string& path) {
  const Lines lines = lines_of(path);
  return lines.empty() ? "" : lines[0];
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// "key<blanks>: value" of /proc/cpuinfo and /proc/meminfo.
std::pair<std::string, std::string> key_value(const std::string& line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos) { return {}; }
  return {trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1))};
}

std::optional<std::int64_t> leading_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, mistake] = std::from_chars(text.data(), text.data() + text.size(), number);
  return mistake == std::errc() && end != text.data() ? std::optional(number) : std::nullopt;
}

void read_processors(const std::string& root, Machine& machine) {
  std::set<std::pair<std::string, std::string>> cores;
  std::set<std::string> sockets;
  std::string socket;
  for (const std::string& line : lines_of(root + "/proc/cpuinfo")) {
    const auto [key, value] = key_value(line);
    if (key == "model name" && machine.processor.empty()) { machine.processor = value; }
    if (key == "physical id") { sockets.insert(socket = value); }
    if (key == "core id") { cores.insert({socket, value}); }
  }
  machine.sockets = static_cast<std::uint32_t>(sockets.size());
  machine.cores = static_cast<std::uint32_t>(cores.size());
}

/// "48K" as the system writes it.
std::string cache_size(const std::string& text) {
  const auto kibibytes = leading_number(text);
  return kibibytes && text.ends_with('K') ? to_string(Bytes{*kibibytes * 1024}) : text;
}

std::string read_caches(const std::string& root) {
  Lines caches;
  for (int index = 0;; ++index) {
    const std::string folder = fmt::format("{}/sys/devices/system/cpu/cpu0/cache/index{}", root, index);
    const std::string level = first_line(folder + "/level");
    if (level.empty()) { return fmt::format("{}", joined(caches, ", ")); }
    const std::string type = first_line(folder + "/type");
    const char* letter = type == "Data" ? "d" : type == "Instruction" ? "i" : "";
    caches.push_back(fmt::format("L{}{} {}", level, letter, cache_size(first_line(folder + "/size"))));
  }
}

/// The entry of /proc/meminfo, which counts in KiB.
std::optional<Bytes> memory_entry(const std::string& root, const std::string& entry) {
  for (const std::string& line : lines_of(root + "/proc/meminfo")) {
    const auto [key, value] = key_value(line);
    const auto number = leading_number(value);
    if (key == entry && number) { return Bytes{*number * 1024}; }
  }
  return std::nullopt;
}

std::string kernel_name() {
  utsname names{};
  if (uname(&names) != 0) { return ""; }
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

std::string counted(std::uint32_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Machine this_machine(const std::string& root) {
  Machine machine;
  read_processors(root, machine);
  machine.threads = std::thread::hardware_concurrency();
  machine.memory = memory_entry(root, "MemTotal");
  machine.caches = read_caches(root);
  machine.kernel = kernel_name();
  return machine;
}

std::optional<Bytes> available_memory(const std::string& root) {
  const std::optional<Bytes> free = memory_entry(root, "MemAvailable");
  const auto limit = leading_number(first_line(root + "/sys/fs/cgroup/memory.max"));
  const auto used = leading_number(first_line(root + "/sys/fs/cgroup/memory.current"));
  if (!limit || !used) { return free; }
  const Bytes left{std::max<std::int64_t>(0, *limit - *used)};
  return free ? std::min(*free, left) : left;
}

std::string counted_models(const std::vector<std::string>& gpus) {
  std::map<std::string, int> counts;
  for (const std::string& gpu : gpus) { ++counts[gpu]; }
  Lines parts;
  for (const auto& [model, count] : counts) { parts.push_back(fmt::format("{} x {}", count, model)); }
  return fmt::format("{}", joined(parts, ", "));
}

std::string rounded_text(Bytes memory) {
  return fmt::format("{:.1f} GiB", static_cast<double>(memory.count()) / static_cast<double>(1LL << 30));
}

std::string machine_id(const Machine& machine) {
  Lines parts{machine.processor.empty() ? "unknown processor" : machine.processor};
  if (machine.sockets > 1) { parts.push_back(counted(machine.sockets, "socket")); }
  if (machine.cores > 0) { parts.push_back(counted(machine.cores, "core")); }
  if (machine.threads > 0 && machine.threads != machine.cores) { parts.push_back(counted(machine.threads, "thread")); }
  if (!machine.gpus.empty()) { parts.push_back(machine.gpus); }
  return fmt::format("{}", joined(parts, ", "));
}

Measurement::Facts hardware_facts(const Machine& machine) {
  Measurement::Facts facts;
  const auto text = [&](const char* key, const std::string& value) {
    if (!value.empty()) { facts.emplace_back(key, value); }
  };
  const auto number = [&](const char* key, std::int64_t value) {
    if (value > 0) { facts.emplace_back(key, value); }
  };
  text("processor", machine.processor);
  number("sockets", machine.sockets);
  number("cores", machine.cores);
  number("threads", machine.threads);
  if (machine.memory) { text("memory", rounded_text(*machine.memory)); }
  text("caches", machine.caches);
  text("gpus", machine.gpus);
  return facts;
}

}  // namespace athanor
