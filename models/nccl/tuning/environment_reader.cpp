#include "models/nccl/tuning/environment_reader.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "sim/error.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

using Effect = NcclNote::Effect;

/// From this version on lists may be given for each function, and what cannot be read is an error.
constexpr NcclVersion kStrictLists{2, 24, 0};

/// The parts of `text` between any of `separators`; empty ones do not count, as with strtok.
std::vector<std::string_view> tokens_of(std::string_view text, char separator) {
  std::vector<std::string_view> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) { tokens.push_back(text.substr(at, end - at)); }
    at = end + 1;
  }
  return tokens;
}

/// The words that a list may hold, and what is made of them.
struct Words {
  std::function<std::optional<std::size_t>(std::string_view)> find;
  std::vector<std::string> all;
  std::string_view what;  ///< "algorithm", "protocol"
  NcclEnable left;        ///< what `^` makes of the words that it does not name

  std::string hint(std::string_view wrong) const {
    const std::string near = nearest(std::string(wrong), all);
    return near.empty() ? fmt::format("{}s are {}", what, joined(all, ", ")) : fmt::format("did you mean {}?", near);
  }
};

template <std::size_t N>
using Row = std::array<NcclEnable, N>;

/// `^a,b` or `a,b` into one function's row. The first word that is none, "" if all are. What `^` leaves is on: for
/// protocols that makes LL128 asked for; for algorithms it says as little as nothing.
template <std::size_t N>
std::string_view read_row(std::string_view list, const Words& words, Row<N>& row) {
  const bool excludes = list.starts_with('^');
  if (excludes) { list.remove_prefix(1); }
  row.fill(excludes ? words.left : NcclEnable::off);
  std::string_view wrong;
  for (const std::string_view word : tokens_of(list, ',')) {
    if (const auto index = words.find(word)) {
      row.at(*index) = excludes ? NcclEnable::off : NcclEnable::on;
    } else if (wrong.empty()) {
      wrong = word;
    }
  }
  return wrong;
}

std::string refusal(const Words& words, std::string_view wrong) {
  return fmt::format("'{}' is no {}; NCCL warns \"Unrecognized element token\" and ends with ncclInvalidUsage; {}",
                     wrong, words.what, words.hint(wrong));
}

/// One entry `function:list` or, first of all, `list`. What NCCL refuses it for, "" if it does not.
template <std::size_t N>
std::string read_entry(std::string_view entry, bool first, const Words& words,
                       std::array<Row<N>, kNcclFunctions>& rows) {
  const std::vector<std::string_view> halves = tokens_of(entry, ':');
  if (halves.empty()) { return "nothing stands beside a colon; NCCL does not check for that and crashes"; }
  if (halves.size() == 1 && !first) {
    return fmt::format(
        "all entries except the first must begin with a function and a colon, and '{}' does not; NCCL "
        "ends with ncclInvalidUsage",
        entry);
  }
  const auto function = halves.size() > 1 ? nccl_function(halves.front()) : std::nullopt;
  if (halves.size() > 1 && !function) {
    return fmt::format(
        "'{}' is no function; NCCL warns \"Unrecognized prefix token\" and ends with ncclInvalidUsage; "
        "functions are AllReduce, AllGather, ReduceScatter, Broadcast and Reduce",
        halves.front());
  }
  for (std::size_t i = 0; i < kNcclFunctions; ++i) {
    if (function && i != static_cast<std::size_t>(*function)) { continue; }
    const std::string_view wrong = read_row(halves[halves.size() > 1 ? 1 : 0], words, rows.at(i));
    if (!wrong.empty()) { return refusal(words, wrong); }
  }
  return "";
}

template <std::size_t N>
void read_strict(const NcclVariable& variable, const Words& words, std::array<Row<N>, kNcclFunctions>& rows) {
  bool first = true;
  for (const std::string_view entry : tokens_of(variable.text, ';')) {
    // What NCCL takes for the first entry is the one that the text begins with.
    const std::string why = read_entry(entry, first && !variable.text.starts_with(';'), words, rows);
    if (!why.empty()) { return variable.note(Effect::refused, why); }
    first = false;
  }
}

/// Before 2.24: one list for all functions, in which unknown words say nothing.
template <std::size_t N>
void read_lenient(const NcclVariable& variable, const Words& words, std::array<Row<N>, kNcclFunctions>& rows) {
  Row<N> row{};
  const std::string_view wrong = read_row(variable.text, words, row);
  rows.fill(row);
  if (!wrong.empty()) {
    variable.note(Effect::ignored, fmt::format("'{}' is no {}, and NCCL before 2.24 passes over it silently; {}", wrong,
                                               words.what, words.hint(wrong)));
  } else if (variable.text.empty()) {
    variable.note(Effect::changed,
                  fmt::format("is set but empty, which before 2.24 excludes every {}; unset it", words.what));
  }
}

template <std::size_t N>
void read_lists(const NcclVariable& variable, NcclVersion version, const Words& words,
                std::array<Row<N>, kNcclFunctions>& rows) {
  if (version < kStrictLists) { return read_lenient(variable, words, rows); }
  read_strict(variable, words, rows);
}

template <class Value, std::size_t N>
Words words_of(std::string_view what, std::optional<Value> (*find)(std::string_view), NcclEnable left) {
  Words words{[find](std::string_view word) -> std::optional<std::size_t> {
                const auto found = find(word);
                return found ? std::optional(static_cast<std::size_t>(*found)) : std::nullopt;
              },
              {},
              what,
              left};
  for (std::size_t i = 0; i < N; ++i) { words.all.emplace_back(name(static_cast<Value>(i))); }
  return words;
}

}  // namespace

void read_algorithms(const NcclVariable& variable, NcclVersion version) {
  read_lists(variable, version,
             words_of<NcclAlgorithm, kNcclAlgorithms>("algorithm", nccl_algorithm, NcclEnable::unset),
             variable.environment.algorithms);
}

void read_protocols(const NcclVariable& variable, NcclVersion version) {
  read_lists(variable, version, words_of<NcclProtocol, kNcclProtocols>("protocol", nccl_protocol, NcclEnable::on),
             variable.environment.protocols);
}

namespace {

// From the user guide's chapter on environment variables (NCCL 2.10 to 2.30), without "NCCL_".
constexpr std::string_view kNames =
    "ALGO ALLOC_P2P_NET_LL_BUFFERS BUFFSIZE CGA_CLUSTER_SIZE CHECKS_DISABLE CHECK_POINTERS CHECK_MODE "
    "CLOSE_TIMEOUT COLLNET_ENABLE COLLNET_NODE_THRESHOLD COMM_BLOCKING COMM_ID COMM_SHRINK_SHARE_RESOURCES "
    "COMM_SPLIT_SHARE_RESOURCES CONF_FILE CONNECT_ROUND_MAX_PEERS CREATE_THREAD_CONTEXT CROSS_NIC CTA_POLICY "
    "CUMEM_ENABLE CUMEM_HOST_ENABLE DEBUG DEBUG_FILE DEBUG_SUBSYS DEBUG_TIMESTAMP_FORMAT DEBUG_TIMESTAMP_LEVELS "
    "DMABUF_ENABLE ENABLE_VERSION_CHECK ENV_PLUGIN GDRCOPY_ENABLE GDRCOPY_FLUSH_ENABLE GDR_FLUSH_DISABLE "
    "GIN_ENABLE GIN_PLUGIN GIN_TYPE GRAPH_DUMP_FILE GRAPH_DUMP_FILE_RANK GRAPH_FILE GRAPH_HELPER_DISABLE "
    "GRAPH_MIXING_SUPPORT GRAPH_REGISTER GRAPH_STREAM_ORDERING HOSTID IB_ADAPTIVE_ROUTING IB_ADDR_FAMILY "
    "IB_ADDR_RANGE IB_AR_THRESHOLD IB_CUDA_SUPPORT IB_DATA_DIRECT IB_DISABLE IB_ECE_ENABLE IB_FIFO_TC "
    "IB_GDR_LEVEL IB_GID_INDEX IB_HCA IB_MERGE_NICS IB_MERGE_VFS IB_MQP_RETRY_ALL IB_OOO_RQ "
    "IB_PCI_RELAXED_ORDERING IB_PKEY IB_QPS_PER_CONNECTION IB_RETRY_CNT IB_RETURN_ASYNC_EVENTS "
    "IB_ROCE_VERSION_NUM IB_SL IB_SPLIT_DATA_ON_QPS IB_TC IB_TIMEOUT IB_USE_INLINE IB_WARN_RAIL_LOCAL "
    "IGNORE_CPU_AFFINITY IGNORE_DISABLED_P2P L1_SHARED_MEMORY_CARVEOUT LAUNCH_MODE LAUNCH_ORDER_IMPLICIT "
    "LAUNCH_RACE_FATAL LL128_BUFFSIZE LL128_C2C LL128_NTHREADS LL_BUFFSIZE LL_THRESHOLD LOCAL_REGISTER MAX_CTAS "
    "MAX_NCHANNELS MAX_NRINGS MAX_P2P_NCHANNELS MEM_SYNC_DOMAIN MIN_CTAS MIN_NCHANNELS MIN_NRINGS "
    "MIN_P2P_NCHANNELS MNNVL_CLIQUE_ID MNNVL_ENABLE MNNVL_UUID MULTI_RANK_GPU_ENABLE NCHANNELS_PER_NET_PEER NET "
    "NETDEVS_POLICY NET_DISABLE_INTRA NET_FORCE_MERGE NET_GDR_C2C NET_GDR_LEVEL NET_GDR_READ NET_MERGE_LEVEL "
    "NET_OVERHEAD NET_PLUGIN NET_SHARED_BUFFERS NET_SHARED_COMMS NSOCKS_PERTHREAD NTHREADS NVB_DISABLE "
    "NVLSTREE_MAX_CHUNKSIZE NVLS_CHUNKSIZE NVLS_ENABLE NVLS_NCHANNELS NVTX_DISABLE OOB_NET_ENABLE "
    "P2P_DIRECT_DISABLE P2P_DISABLE P2P_LEVEL P2P_LL_THRESHOLD P2P_NET_CHUNKSIZE P2P_NVL_CHUNKSIZE "
    "P2P_PCI_CHUNKSIZE P2P_PXN_LEVEL P2P_READ_ENABLE PAT_ENABLE PROFILER_PLUGIN PROGRESS_APPENDOP_FREQ PROTO "
    "PXN_C2C PXN_DISABLE RAS_ENABLE RUNTIME_CONNECT SHM_DISABLE SHM_USE_CUDA_MEMCPY ";

// More that its sources read, and what plugins of clouds and switches do.
constexpr std::string_view kMoreNames =
    "SET_STACK_SIZE SET_THREAD_NAME SHARP_DISABLE SHARP_GROUP_SIZE_THRESH SINGLE_PROC_MEM_REG_ENABLE "
    "SINGLE_RING_THRESHOLD SOCKET_FAMILY SOCKET_IFNAME SOCKET_NTHREADS SOCKET_POLL_TIMEOUT_MSEC SOCKET_RETRY_CNT "
    "SOCKET_RETRY_SLEEP_MSEC STORE_IFNAME SYM_CE_THRESHOLD SYM_CTAS THREAD_THRESHOLDS TOPO_DUMP_FILE "
    "TOPO_DUMP_FILE_RANK TOPO_FILE TREE_THRESHOLD TUNER_PLUGIN TUNER_CONFIG_PATH UID_STAGGER_RATE "
    "UID_STAGGER_THRESHOLD UNPACK_DOUBLE_NCHANNELS WIN_ENABLE WIN_STRIDE WORK_ARGS_BYTES WORK_FIFO_BYTES "
    "SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE DYNAMIC_CHUNK_SIZE FASTRAK_CTRL_DEV FASTRAK_IFNAME "
    "FASTRAK_LLCM_DEVICE_DIRECTORY FASTRAK_NUM_FLOWS FASTRAK_ENABLE_HOTPATH_LOGGING FASTRAK_USE_LLCM "
    "FASTRAK_USE_SNAP GPUDIRECTTCPX_CTRL_DEV GPUDIRECTTCPX_FORCE_ACK "
    "GPUDIRECTTCPX_PROGRAM_FLOW_STEERING_WAIT_MICROS GPUDIRECTTCPX_RX_BINDINGS GPUDIRECTTCPX_SOCKET_IFNAME "
    "GPUDIRECTTCPX_TX_BINDINGS GPUDIRECTTCPX_UNIX_CLIENT_PREFIX INSPECTOR_ENABLE INSPECTOR_DUMP_DIR "
    "INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS ";

constexpr std::string_view kPrefix = "NCCL_";

std::vector<std::string_view> rests() {
  std::vector<std::string_view> all = words_of_line(kNames);
  const std::vector<std::string_view> more = words_of_line(kMoreNames);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

bool is_nccl_variable(const std::string& name) {
  if (!name.starts_with(kPrefix)) { return false; }
  const std::vector<std::string_view> all = rests();
  return std::find(all.begin(), all.end(), std::string_view(name).substr(kPrefix.size())) != all.end();
}

std::string nearest_nccl_variable(const std::string& name) {
  std::vector<std::string> all;
  for (const std::string_view each : rests()) { all.push_back(std::string(kPrefix).append(each)); }
  return nearest(name, all);
}

namespace {

using Effect = NcclNote::Effect;

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// What strtoll with base 0 makes of a text: the number, and what it leaves over.
struct Read {
  std::int64_t number = 0;
  bool in_range = true;
  bool has_digits = false;
  int base = 10;
  std::string_view rest;
};

int base_of(std::string_view& digits) {
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') &&
      std::isxdigit(static_cast<unsigned char>(digits[2])) != 0) {
    digits.remove_prefix(2);
    return 16;
  }
  return digits.size() > 1 && digits[0] == '0' ? 8 : 10;
}

Read read_number(std::string_view text) {
  Read read;
  while (!text.empty() && is_blank(text.front())) { text.remove_prefix(1); }
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) { text.remove_prefix(1); }
  read.base = base_of(text);
  std::uint64_t magnitude = 0;
  const auto [end, mistake] = std::from_chars(text.data(), text.data() + text.size(), magnitude, read.base);
  read.has_digits = end != text.data();
  read.rest = text.substr(static_cast<std::size_t>(end - text.data()));
  read.in_range = mistake != std::errc::result_out_of_range && magnitude <= static_cast<std::uint64_t>(INT64_MAX);
  if (read.in_range) {
    read.number = negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
  }
  return read;
}

}  // namespace

std::optional<std::int64_t> nccl_number(const NcclVariable& variable) {
  if (variable.text.empty()) { return {}; }
  const Read read = read_number(variable.text);
  if (!read.in_range) {
    variable.note(Effect::ignored, fmt::format("'{}' does not fit in 64 bits; NCCL uses its default", variable.text));
    return {};
  }
  if (!read.has_digits || !read.rest.empty()) {
    variable.note(Effect::changed, fmt::format("'{}' is read as {}, without units or fractions; write the whole number",
                                               variable.text, read.number));
  } else if (read.base == 8) {
    variable.note(Effect::changed,
                  fmt::format("'{}' is read as {}: a number that begins with 0 is octal", variable.text, read.number));
  }
  return read.number;
}

std::optional<NcclPath> nccl_level(const NcclVariable& variable) {
  if (variable.text.empty()) { return {}; }
  for (int i = 0; i <= static_cast<int>(NcclPath::sys); ++i) {
    if (name(static_cast<NcclPath>(i)) == variable.text) { return static_cast<NcclPath>(i); }
  }
  constexpr std::array kOldLevels{NcclPath::loc, NcclPath::pix, NcclPath::pxb, NcclPath::phb, NcclPath::sys};
  const Read read = read_number(variable.text);
  const std::int64_t level = read.in_range ? read.number : 0;
  const NcclPath path = kOldLevels.at(static_cast<std::size_t>(std::clamp<std::int64_t>(level, 0, 4)));
  if (!read.has_digits || !read.rest.empty() || level < 0) {
    variable.note(Effect::changed,
                  fmt::format("'{}' is no level and is read as the number 0, LOC: never; levels are written LOC, NVL, "
                              "PIX, PXB, PHB and SYS",
                              variable.text));
  }
  return path;
}

}  // namespace athanor
