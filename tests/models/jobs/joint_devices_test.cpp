#include <array>
#include <optional>
#include <random>

#include <doctest/doctest.h>

#include "models/jobs/inventory.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// Nodes with eight GPUs and NICs, two of each on a PCIe switch, two switches on a socket: as a DGX A100.
NodeList dgx_nodes(std::uint32_t count) {
  NodeList nodes = equal_nodes(count, 8);
  NodeDevices devices;
  for (std::uint8_t each = 0; each < 8; ++each) {
    devices.switch_of_gpu.push_back(each / 2);
    devices.socket_of_gpu.push_back(each / 4);
  }
  devices.switch_of_nic = devices.switch_of_gpu;
  devices.socket_of_nic = devices.socket_of_gpu;
  nodes.devices.push_back(devices);
  for (Node& node : nodes.nodes) { node.nics = 8; }
  return nodes;
}

GpuSet set_of(std::initializer_list<std::uint32_t> members) {
  GpuSet set;
  for (const std::uint32_t each : members) { set.add(each); }
  return set;
}

/// Of one task, with what the node has left.
std::optional<NodeShare> place(PlacementPolicy& policy, std::uint16_t gpus, std::uint16_t nics, Inventory& inventory) {
  const auto where = policy.place({{1, {.gpus = gpus, .nics = nics}}}, inventory);
  return where ? std::optional(where->front()) : std::nullopt;
}

}  // namespace

TEST_CASE("NICs hang on the switches of the GPUs beside which they are wanted") {
  const NodeList nodes = dgx_nodes(1);
  JobList jobs;
  Inventory inventory(nodes, jobs);
  const auto policy = placement_of("joint_devices", jobs, nodes);
  const auto one = place(*policy, 1, 1, inventory);
  CHECK(one->gpus == set_of({0}));
  CHECK(one->nics == set_of({0}));
  const auto two = place(*policy, 2, 1, inventory);
  CHECK(two->gpus == set_of({2, 3}));
  CHECK(two->nics == set_of({2}));
  const auto beside = place(*policy, 1, 1, inventory);  // the switch that is in use already
  CHECK(beside->gpus == set_of({1}));
  CHECK(beside->nics == set_of({1}));
  const auto four = place(*policy, 4, 3, inventory);
  CHECK(four->gpus == set_of({4, 5, 6, 7}));
  CHECK(four->nics.count() == 3);
  CHECK((four->nics - set_of({4, 5, 6, 7})).empty());
}

TEST_CASE("a task waits for NICs that are near, or gets others, as it is wanted") {
  const NodeList nodes = dgx_nodes(1);
  JobList jobs;
  const auto left_with = [&](const char* keys, std::uint16_t gpus, std::uint16_t nics) {
    Inventory inventory(nodes, jobs);
    // GPUs 0 and 1 are free, and on their switch no NIC.
    inventory.take({NodeId{0}, 0, 1, set_of({2, 3, 4, 5, 6, 7}), 0, set_of({0, 1})}, {.gpus = 6, .nics = 2});
    return place(*placement_of("joint_devices", jobs, nodes, keys), gpus, nics, inventory);
  };
  CHECK(left_with("{}", 1, 1)->nics == set_of({2}));
  CHECK(left_with(R"({"required": "socket"})", 1, 1)->nics == set_of({2}));
  CHECK_FALSE(left_with(R"({"required": "socket"})", 1, 3).has_value());
  CHECK(left_with("{}", 1, 3)->nics == set_of({2, 3, 4}));
  CHECK_FALSE(left_with(R"({"required": "pcie"})", 1, 1).has_value());
  CHECK(left_with(R"({"required": "pcie"})", 2, 0)->gpus == set_of({0, 1}));  // it wants none
}

TEST_CASE(
    "tasks with NICs come and go: each NIC and each GPU has the other on its switch, and everything is free again") {
  std::mt19937_64 random(5);
  const NodeList nodes = dgx_nodes(3);
  const NodeDevices& devices = nodes.devices.front();
  JobList jobs;
  Inventory inventory(nodes, jobs);
  const auto policy = placement_of("joint_devices", jobs, nodes, R"({"required": "pcie"})");
  std::vector<std::pair<Allocation, Shape>> taken;
  std::uint32_t placed = 0;
  for (int i = 0; i < 3000; ++i) {
    if (random() % 2 == 0 && !taken.empty()) {
      std::swap(taken[random() % taken.size()], taken.back());
      inventory.give_back(taken.back().first, taken.back().second);
      taken.pop_back();
      continue;
    }
    const Shape shape = {
        {static_cast<std::uint32_t>(1 + random() % 2),
         {.gpus = static_cast<std::uint16_t>(1 + random() % 4), .nics = static_cast<std::uint16_t>(1 + random() % 4)}}};
    auto where = policy->place(shape, inventory);
    if (!where) { continue; }
    ++placed;
    for (const NodeShare& share : *where) {
      std::array<bool, 4> with_gpu{};
      std::array<bool, 4> with_nic{};
      for (std::uint32_t each = 0; each < 8; ++each) {
        if (share.gpus.has(each)) { with_gpu.at(devices.switch_of_gpu[each]) = true; }
        if (share.nics.has(each)) { with_nic.at(devices.switch_of_nic[each]) = true; }
      }
      CHECK(with_gpu == with_nic);
    }
    taken.emplace_back(std::move(*where), shape);
  }
  CHECK(placed > 300);
  for (const auto& [where, shape] : taken) { inventory.give_back(where, shape); }
  for (const NodeId node : nodes.nodes.ids()) {
    CHECK(inventory.free_gpus(node) == GpuSet::first(8));
    CHECK(inventory.free_nics(node) == NicSet::first(8));
  }
}
