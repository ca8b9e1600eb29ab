#include "tools/report/port_table.hpp"

#include <cstdlib>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "models/network/link_use.hpp"
#include "sim/printable.hpp"

namespace athanor {

namespace {

/// "-1.5e3": all of it.
bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size();
}

/// A sign alone (what is not there is often written so) is none.
bool runs_as_formula(std::string_view text) {
  constexpr std::string_view kBeginnings = "=+-@\t\r\n";
  return text.size() > 1 && kBeginnings.find(text.front()) != std::string_view::npos && !is_number(std::string(text));
}

}  // namespace

std::optional<BusiestLink> busiest_link(const std::vector<LinkLoad>& loads, const Fabric& fabric, Time time) {
  const LinkLoad* busiest = nullptr;
  double most = 0;
  for (const LinkLoad& load : loads) {
    const double share = utilisation(load.carried, fabric.link(load.link).usable, time);
    if (share <= most) { continue; }
    most = share;
    busiest = &load;
  }
  if (busiest == nullptr) { return std::nullopt; }
  return BusiestLink{fabric.name(busiest->link), most};
}

nlohmann::ordered_json packets_json(const PacketCounters& packets) {
  return {{"data", packets.hosts.data},
          {"repeated", packets.hosts.repeated},
          {"replies", packets.hosts.replies},
          {"notices", packets.hosts.notices},
          {"pulls", packets.hosts.pulls},
          {"timeouts", packets.hosts.timeouts},
          {"forwarded", packets.switches.forwarded},
          {"dropped", packets.switches.dropped},
          {"trimmed", packets.switches.trimmed},
          {"marked", packets.switches.marked},
          {"pauses", packets.switches.pauses},
          {"longest_queue_bytes", packets.switches.longest_queue}};
}

std::string packets_line(const PacketCounters& packets) {
  return fmt::format(
      "{} packets, {} of them repeated; {} dropped, {} trimmed, {} marked, {} pauses, {} timeouts; longest queue {} "
      "B\n",
      packets.hosts.data, packets.hosts.repeated, packets.switches.dropped, packets.switches.trimmed,
      packets.switches.marked, packets.switches.pauses, packets.hosts.timeouts, packets.switches.longest_queue);
}

std::string port_names() {
  return "case,bytes_asked,what,from,to,kind,ports,rate_gbps,data_bytes,reply_bytes,utilisation,mean_queue_bytes,"
         "longest_queue_bytes,marked,dropped,trimmed,repeated,pauses_received,pauses_sent,paused_us\n";
}

std::string port_lines(std::string_view label, const std::vector<PortLoad>& ports, const Fabric& fabric, Time time) {
  std::string lines;
  for (const PortLoad& port : ports) {
    const PortCounters& counted = port.counters;
    const double mean_queue =
        counted.arrivals == 0 ? 0 : static_cast<double>(counted.queue_sum) / static_cast<double>(counted.arrivals);
    lines += fmt::format("{},{},{},{},{},{:.6g},{},{},{:.6f},{:.1f},{},{},{},{},{},{},{},{:.6f}\n", label,
                         csv_field(fabric.name(port.from)), csv_field(fabric.name(port.to)), name(port.kind),
                         port.members, gigabytes_per_second(port.rate), port.carried.count(), counted.replies,
                         utilisation(port.carried + Bytes{counted.replies}, port.rate, time), mean_queue,
                         counted.longest_queue, counted.marked, counted.dropped, counted.trimmed, counted.repeated,
                         counted.pauses, port.pauses_sent, microseconds(counted.paused));
  }
  return lines;
}

std::string csv_field(std::string_view text) {
  // Tables go to terminals, too.
  const std::string inert = (runs_as_formula(text) ? "'" : "") + printable(text);
  if (inert.find_first_of(",\"") == std::string::npos) { return inert; }
  std::string quoted = "\"";
  for (const char c : inert) { quoted += c == '"' ? std::string("\"\"") : std::string(1, c); }
  return quoted + "\"";
}

}  // namespace athanor
