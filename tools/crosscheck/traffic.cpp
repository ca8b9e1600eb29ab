#include "tools/crosscheck/traffic.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sim/file.hpp"

namespace athanor {

namespace {

[[noreturn]] void refuse(const std::string& line) {
  throw std::runtime_error(fmt::format("this is no line of a connection matrix: {}", line));
}

}  // namespace

Traffic::Traffic(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("->") != std::string::npos) {
      read_flow(line);
    } else if (line.starts_with("trigger ")) {
      read_trigger(line);
    } else if (!line.starts_with("Nodes ") && !line.starts_with("Connections ") && !line.starts_with("Triggers ")) {
      refuse(line);
    }
  }
  for (std::uint32_t f = 0; f < flows_.size(); ++f) {
    if (flows_[f].trigger) { started_by_[*flows_[f].trigger].push_back(f); }
  }
}

void Traffic::read_flow(const std::string& line) {
  std::istringstream words(line);
  Flow flow;
  char arrow = 0;
  if (!(words >> flow.from >> arrow >> arrow >> flow.to)) { refuse(line); }
  std::int64_t value = 0;
  for (std::string key; words >> key;) {
    if (!(words >> value)) { refuse(line); }
    const auto id = static_cast<std::uint32_t>(value);
    if (key == "size") { flow.bytes = value; }
    if (key == "trigger") { flow.trigger = id; }
    if (key == "send_done_trigger" || key == "recv_done_trigger") { flow.fires.push_back(id); }
  }
  flows_.push_back(std::move(flow));
}

void Traffic::read_trigger(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  std::string kind;
  std::uint32_t id = 0;
  std::uint32_t count = 1;
  if (!(words >> word >> word >> id >> kind)) { refuse(line); }
  if (kind == "barrier" && !(words >> word >> count)) { refuse(line); }
  awaited_[id] = count;
}

std::vector<std::uint32_t> Traffic::first() const {
  std::vector<std::uint32_t> flows;
  for (std::uint32_t f = 0; f < flows_.size(); ++f) {
    if (!flows_[f].trigger) { flows.push_back(f); }
  }
  return flows;
}

std::vector<std::uint32_t> Traffic::arrived(std::uint32_t flow) {
  std::vector<std::uint32_t> started;
  for (const std::uint32_t trigger : flows_[flow].fires) {
    if (--awaited_.at(trigger) > 0) { continue; }
    const std::vector<std::uint32_t>& released = started_by_[trigger];
    started.insert(started.end(), released.begin(), released.end());
  }
  return started;
}

ExportedFabric read_exported_fabric(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  ExportedFabric network;
  for (const nlohmann::json& vertex : json.at("vertices")) { network.names.push_back(vertex.at("name")); }
  for (const nlohmann::json& link : json.at("links")) {
    network.links.push_back({link.at("from"), link.at("to"), link.at("rate_bytes_per_s"), link.at("usable_bytes_per_s"),
                             link.at("latency_ps")});
  }
  network.endpoints = json.at("endpoints").get<std::vector<std::uint32_t>>();
  if (json.at("routes").is_null()) { throw std::runtime_error("the fabric has too many endpoints for its routes"); }
  for (const nlohmann::json& route : json.at("routes")) {
    network.routes[{route.at("from"), route.at("to")}] = route.at("links").get<std::vector<std::uint32_t>>();
  }
  return network;
}

TrafficCase read_case(int argc, char** argv) {
  if (argc < 3) { throw std::runtime_error(fmt::format("{} FABRIC.json FLOWS.cm", argv[0])); }
  return {read_exported_fabric(read_text_file(argv[1])), Traffic(read_text_file(argv[2]))};
}

void Report::print(const char* engine) const {
  double sum = 0;
  double last = 0;
  for (std::size_t f = 0; f < ended_.size(); ++f) {
    if (ended_[f] < 0) { throw std::runtime_error(fmt::format("flow {} has not ended", f + 1)); }
    sum += ended_[f] - started_[f];
    last = std::max(last, ended_[f]);
  }
  const double flows = static_cast<double>(std::max<std::size_t>(1, ended_.size()));
  fmt::print("{}\n",
             nlohmann::json{
                 {"engine", engine}, {"flows", ended_.size()}, {"mean_us", sum / flows * 1e6}, {"last_us", last * 1e6}}
                 .dump());
}

}  // namespace athanor
