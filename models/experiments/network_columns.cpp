#include "models/experiments/network_columns.hpp"

#include <fmt/core.h>

#include "models/experiments/table.hpp"
#include "models/network/link_use.hpp"

namespace athanor {

namespace {

constexpr Column kBusiestLink{"busiest_link"};                ///< by name
constexpr Column kBusiestUtilisation{"busiest_utilisation"};  ///< of its usable rate, the share that was used
constexpr Column kPackets{"packets"};                         ///< at level `packet`: counters, see [Packets](#packets)
constexpr Column kSkipped{
    "skipped"};                    ///< where `skip_error` is above 0: what was not simulated, see [Packets](#packets)
constexpr Column kSlots{"slots"};  ///< of `switchml` and `atp`: [packets and slots](scenario.md#engines-in-switches)

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

void put_busiest_link(const std::vector<LinkLoad>& loads, const Fabric& fabric, Time time, Record& record) {
  const std::optional<BusiestLink> busiest = busiest_link(loads, fabric, time);
  if (!busiest) { return; }
  record.put(kBusiestLink, busiest->name);
  record.put(kBusiestUtilisation, busiest->utilisation);
  record.remarks.push_back(
      fmt::format("busiest link {}, {:.1f} % of the time", busiest->name, busiest->utilisation * 100));
}

std::string settled_text(const Settled& settled, Ratio skip_error) {
  std::string what;
  if (settled.loops > 0) { what = fmt::format("{} loops", settled.loops); }
  if (settled.steps > 0) {
    what += fmt::format("{}{} steps of a loop", settled.loops > 0 ? " and " : "", settled.steps);
  }
  return fmt::format("{} had settled and were multiplied: about {:g} % of error at most", what,
                     to_double(skip_error) * 100);
}

std::string leeway_text(const NetworkSettings& network) {
  if (network.level != NetworkLevel::flow || network.skip_error == Ratio{0, 1}) { return ""; }
  const double percent = to_double(network.skip_error) * 100;
  return fmt::format(
      "links that flows share may leave up to {:g} % of their rate unused: about {:g} % of error at most", percent / 2,
      percent);
}

void put_skips(std::uint64_t simulated, const SkipCounters& skips, Record& record) {
  record.put(kSkipped, {{"data", skips.packets},
                        {"skips", skips.skips},
                        {"remembered", skips.remembered},
                        {"share_of_time", skips.share()},
                        {"checks", skips.checks},
                        {"mean_error", skips.mean_error()},
                        {"worst_error", skips.worst_error}});
  const std::uint64_t all = simulated + skips.packets;
  record.remarks.push_back(
      fmt::format("{} of {} packets skipped in {} steps ({} known), {:.1f} % of the time of flows; {} checked: rates "
                  "{:.2f} % off, {:.2f} % at worst",
                  skips.packets, all, skips.skips, skips.remembered, skips.share() * 100, skips.checks,
                  skips.mean_error() * 100, skips.worst_error * 100));
}

void put_packets(const std::optional<PacketCounters>& counted, bool remark, Record& record) {
  if (!counted) { return; }
  const HostCounters& hosts = counted->hosts;
  const SwitchCounters& switches = counted->switches;
  record.put(kPackets, {{"data", hosts.data},
                        {"repeated", hosts.repeated},
                        {"replies", hosts.replies},
                        {"notices", hosts.notices},
                        {"pulls", hosts.pulls},
                        {"timeouts", hosts.timeouts},
                        {"forwarded", switches.forwarded},
                        {"dropped", switches.dropped},
                        {"trimmed", switches.trimmed},
                        {"marked", switches.marked},
                        {"pauses", switches.pauses},
                        {"longest_queue_bytes", switches.longest_queue}});
  if (counted->skips) { put_skips(hosts.data, *counted->skips, record); }
  if (!remark) { return; }
  record.remarks.push_back(fmt::format(
      "{} packets, {} of them repeated; {} dropped, {} trimmed, {} marked, {} pauses, {} timeouts; longest queue {} B",
      hosts.data, hosts.repeated, switches.dropped, switches.trimmed, switches.marked, switches.pauses, hosts.timeouts,
      switches.longest_queue));
}

void put_slots(const std::optional<AggregationJobResult>& job, Record& record) {
  if (!job) { return; }
  record.put(kSlots, {{"packets", job->packets},
                      {"lost", job->lost},
                      {"retransmissions", job->retransmissions},
                      {"repeated_results", job->repeated_results},
                      {"share_in_switches", share_in_switches(*job)},
                      {"collisions", job->collisions},
                      {"server_packets", job->server_packets},
                      {"round_trip_us", microseconds(job->lossless_round_trip)}});
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

}  // namespace athanor
