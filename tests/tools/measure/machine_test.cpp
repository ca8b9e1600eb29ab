#include "tools/measure/machine.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

std::string processor(int socket, int core) {
  return fmt::format("processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nphysical id\t: {}\ncore id\t\t: {}\n\n", socket,
                     core);
}

}  // namespace

TEST_CASE("sockets, cores, caches and memory are read as the system writes them") {
  const Folder folder;
  // Two sockets of two cores of two threads.
  std::string cpuinfo;
  for (const int socket : {0, 1}) {
    for (const int core : {0, 1, 0, 1}) { cpuinfo += processor(socket, core); }
  }
  folder.write("proc/cpuinfo", cpuinfo);
  folder.write("proc/meminfo", "MemTotal:       24684084 kB\nMemFree: 1 kB\nMemAvailable:    1048576 kB\n");
  const std::string caches = "sys/devices/system/cpu/cpu0/cache/";
  folder.write(caches + "index0/level", "1\n");
  folder.write(caches + "index0/type", "Data\n");
  folder.write(caches + "index0/size", "48K\n");
  folder.write(caches + "index1/level", "3\n");
  folder.write(caches + "index1/type", "Unified\n");
  folder.write(caches + "index1/size", "491520K\n");
  Machine machine = this_machine(folder.path(""));
  CHECK(machine.processor == "Some CPU @ 2.00GHz");
  CHECK(machine.sockets == 2);
  CHECK(machine.cores == 4);
  CHECK(machine.caches == "L1d 48 KiB, L3 480 MiB");
  CHECK(machine.memory == Bytes{24684084LL * 1024});
  machine.threads = 8;
  CHECK(machine_id(machine) == "Some CPU @ 2.00GHz, 2 sockets, 4 cores, 8 threads");
  machine.gpus = counted_models({"H100", "H100"});
  CHECK(machine_id(machine) == "Some CPU @ 2.00GHz, 2 sockets, 4 cores, 8 threads, 2 x H100");
  const auto facts = hardware_facts(machine);
  CHECK(facts[4] == std::pair<std::string, std::variant<std::int64_t, std::string>>{"memory", "23.5 GiB"});
}

TEST_CASE("available memory is the least of what is free and what the control group allows") {
  const Folder folder;
  CHECK_FALSE(available_memory(folder.path("")));
  folder.write("proc/meminfo", "MemAvailable:    1048576 kB\n");
  CHECK(available_memory(folder.path("")) == Bytes{1LL << 30});
  folder.write("sys/fs/cgroup/memory.current", "100\n");
  folder.write("sys/fs/cgroup/memory.max", "max\n");
  CHECK(available_memory(folder.path("")) == Bytes{1LL << 30});
  folder.write("sys/fs/cgroup/memory.max", "5000\n");
  CHECK(available_memory(folder.path("")) == Bytes{4900});
  folder.write("sys/fs/cgroup/memory.max", "50\n");
  CHECK(available_memory(folder.path("")) == Bytes{0});
}

TEST_CASE("a machine of which nothing is known still has a name") {
  const Folder folder;
  Machine machine = this_machine(folder.path(""));
  machine.threads = 3;
  CHECK(machine_id(machine) == "unknown processor, 3 threads");
}
