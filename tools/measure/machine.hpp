#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/experiments/scenario/measurement.hpp"

namespace athanor {

/// The machine that this process runs on, as far as the system tells. 0 and "": it does not.
struct Machine {
  std::string processor;  ///< "Intel(R) Xeon(R) Processor"
  std::uint32_t sockets = 0;
  std::uint32_t cores = 0;    ///< of all sockets together
  std::uint32_t threads = 0;  ///< that this process may use at a time
  std::optional<Bytes> memory;
  std::string caches;  ///< "L1d 48 KiB, L2 2 MiB, L3 480 MiB" as the first processor has them
  std::string kernel;  ///< "Linux 6.1.0 x86_64"
  std::string gpus;    ///< as counted_models says
};

/// `root`: "" or a folder that stands for the root of the file system, with its proc/ and sys/, for tests.
Machine this_machine(const std::string& root = "");

/// Memory that this process can still get, of the system's free memory and the limit of its control group.
std::optional<Bytes> available_memory(const std::string& root = "");

/// "2 x H100, 1 x A100": each model once.
std::string counted_models(const std::vector<std::string>& gpus);
/// "23.5 GiB": rounded, for people.
std::string rounded_text(Bytes memory);

/// What tells a machine from others of other make: processor, sockets, cores, threads, GPUs. No names of hosts.
std::string machine_id(const Machine& machine);

Measurement::Facts hardware_facts(const Machine& machine);

}  // namespace athanor
