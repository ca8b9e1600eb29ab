#include "tools/measure/nccl_library.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fmt/core.h>

#include "algorithms/execution/cuda/device_memory.hpp"
#include "algorithms/schedule/contract.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

using Handle = void*;  ///< ncclComm_t
constexpr int kSuccess = 0;

/// ncclDataType_t.
int nccl_type_of(DataType type) {
  switch (type) {
    case DataType::int8: return 0;
    case DataType::int32: return 2;
    case DataType::int64: return 4;
    case DataType::float16: return 6;
    case DataType::float32: return 7;
    case DataType::float64: return 8;
    case DataType::bfloat16: return 9;
  }
  require(false, "a type without a number in NCCL");
  return -1;
}

/// ncclRedOp_t.
int nccl_operation_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum: return 0;
    case Reduction::product: return 1;
    case Reduction::maximum: return 2;
    case Reduction::minimum: return 3;
    case Reduction::average: return 4;
  }
  require(false, "a reduction without a number in NCCL");
  return -1;
}

bool whole_number(DataType type) {
  return type == DataType::int8 || type == DataType::int32 || type == DataType::int64;
}

}  // namespace

struct NcclLibrary::Functions {
  void* library = nullptr;
  int (*version)(int*) = nullptr;
  const char* (*error)(int) = nullptr;
  int (*make)(Handle*, int, const int*) = nullptr;
  int (*abort)(Handle) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, Handle, cudaStream_t) = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int, int, Handle, cudaStream_t) = nullptr;
  int (*reduce)(const void*, void*, std::size_t, int, int, int, Handle, cudaStream_t) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int, Handle, cudaStream_t) = nullptr;
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, Handle, cudaStream_t) = nullptr;
  int (*send)(const void*, std::size_t, int, int, Handle, cudaStream_t) = nullptr;
  int (*receive)(void*, std::size_t, int, int, Handle, cudaStream_t) = nullptr;

  ~Functions() {
    if (library != nullptr) { dlclose(library); }
  }

  template <class Function>
  bool load(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    return function != nullptr;
  }

  bool load_all() {
    return load(version, "ncclGetVersion") && load(error, "ncclGetErrorString") && load(make, "ncclCommInitAll") &&
           load(abort, "ncclCommAbort") && load(destroy, "ncclCommDestroy") && load(group_start, "ncclGroupStart") &&
           load(group_end, "ncclGroupEnd") && load(all_reduce, "ncclAllReduce") && load(broadcast, "ncclBroadcast") &&
           load(reduce, "ncclReduce") && load(all_gather, "ncclAllGather") &&
           load(reduce_scatter, "ncclReduceScatter") && load(send, "ncclSend") && load(receive, "ncclRecv");
  }

  void check(int status, const char* what) const {
    if (status != kSuccess) { throw SimulationError("nccl", fmt::format("{}: {}", what, error(status))); }
  }
};

NcclLibrary::NcclLibrary(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {}
NcclLibrary::~NcclLibrary() = default;
NcclLibrary::NcclLibrary(NcclLibrary&& other) noexcept = default;

std::optional<NcclLibrary> NcclLibrary::find() {
  auto functions = std::make_unique<Functions>();
  functions->library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (functions->library == nullptr || !functions->load_all()) { return std::nullopt; }
  return NcclLibrary(std::move(functions));
}

std::string NcclLibrary::version() const {
  int number = 0;
  functions_->check(functions_->version(&number), "ncclGetVersion");
  // From 2.9 on 10000 x major + 100 x minor + patch, before that 1000 x major.
  const int major = number >= 10000 ? number / 10000 : number / 1000;
  return fmt::format("{}.{}.{}", major, number / 100 % (number >= 10000 ? 100 : 10), number % 100);
}

std::optional<std::string> nccl_refuses(const Trial& trial, std::size_t gpus) {
  const Collective& collective = trial.collective;
  const Contract contract(collective);
  if (collective.kind == CollectiveKind::barrier) { return "NCCL has no barrier"; }
  if (collective.ranks > gpus) {
    return fmt::format("NCCL takes a GPU for each rank: {} for {} ranks", gpus, collective.ranks);
  }
  const bool parts = collective.kind != CollectiveKind::all_reduce && collective.kind != CollectiveKind::broadcast &&
                     collective.kind != CollectiveKind::reduce && collective.kind != CollectiveKind::send_receive &&
                     collective.kind != CollectiveKind::all_to_all_v;
  if (parts && collective.count % Elements{collective.ranks} != Elements::zero()) {
    return "NCCL takes parts of one size only";
  }
  if (contract.finished() && trial.reduction == Reduction::average && whole_number(trial.type)) {
    return "how NCCL rounds an average of whole numbers is not defined";
  }
  if (collective.kind == CollectiveKind::send_receive && collective.ranks < 2) { return "there is nobody to send to"; }
  if (collective.in_place && !contract.in_place(0)) { return "it is not done in place"; }
  return std::nullopt;
}

/// Communicators, streams and memory of all ranks.
class NcclCollective::State {
 public:
  State(const NcclLibrary& library, const Trial& trial)
      : nccl_(*library.functions_),
        collective_(trial.collective),
        element_(element_size(trial.type)),
        type_(nccl_type_of(trial.type)),
        operation_(nccl_operation_of(trial.reduction)),
        limit_(trial.time_limit),
        communicators_(collective_.ranks) {
    std::vector<int> devices;
    for (std::uint32_t rank = 0; rank < collective_.ranks; ++rank) { devices.push_back(static_cast<int>(rank)); }
    nccl_.check(nccl_.make(communicators_.data(), static_cast<int>(devices.size()), devices.data()), "ncclCommInitAll");
    for (std::uint32_t rank = 0; rank < collective_.ranks; ++rank) {
      ranks_.emplace_back(rank, user_memory(collective_, rank), element_);
    }
  }

  ~State() {
    for (Handle communicator : communicators_) { aborted_ ? nccl_.abort(communicator) : nccl_.destroy(communicator); }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::byte* at(std::uint32_t rank, Buffer buffer) const { return ranks_[rank].at(buffer); }

  double run() {
    nccl_.check(nccl_.group_start(), "ncclGroupStart");
    for (std::uint32_t rank = 0; rank < collective_.ranks; ++rank) {
      const OnDevice here(static_cast<int>(rank));
      check(cudaEventRecord(ranks_[rank].begin, ranks_[rank].stream), "cudaEventRecord");
      nccl_.check(post(rank), "an NCCL collective");
    }
    nccl_.check(nccl_.group_end(), "ncclGroupEnd");
    for (std::uint32_t rank = 0; rank < collective_.ranks; ++rank) {
      const OnDevice here(static_cast<int>(rank));
      check(cudaEventRecord(ranks_[rank].end, ranks_[rank].stream), "cudaEventRecord");
    }
    wait();
    float most = 0;
    for (const Rank& rank : ranks_) {
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, rank.begin, rank.end), "cudaEventElapsedTime");
      most = std::max(most, milliseconds);
    }
    return static_cast<double>(most) * 1e-3;
  }

 private:
  /// What one rank has on its GPU.
  struct Rank {
    Rank(std::uint32_t rank, const Memory& memory, std::int64_t element) : device(static_cast<int>(rank)) {
      const std::int64_t after = memory.in_place.value_or(memory.output.count());  // where the input begins
      const std::int64_t first = std::min<std::int64_t>(0, after);
      const std::int64_t last = std::max(memory.output.count(), after + memory.input.count());
      bytes = DeviceMemory(device, static_cast<std::size_t>((last - first) * element));
      output = -first * element;
      input = (after - first) * element;
      const OnDevice here(device);
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
      check(cudaEventCreate(&begin), "cudaEventCreate");
      check(cudaEventCreate(&end), "cudaEventCreate");
    }
    ~Rank() {
      if (stream == nullptr) { return; }
      cudaEventDestroy(begin);
      cudaEventDestroy(end);
      cudaStreamDestroy(stream);
    }
    Rank(Rank&& other) noexcept
        : device(other.device),
          bytes(std::move(other.bytes)),
          input(other.input),
          output(other.output),
          stream(std::exchange(other.stream, nullptr)),
          begin(other.begin),
          end(other.end) {}
    Rank& operator=(Rank&&) = delete;

    std::byte* at(Buffer buffer) const { return bytes.data() + (buffer == Buffer::output ? output : input); }

    int device;
    DeviceMemory bytes;      ///< of input and output, the one within the other where the collective is in place
    std::int64_t input = 0;  ///< where it begins
    std::int64_t output = 0;
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
  };

  std::size_t part() const { return static_cast<std::size_t>(collective_.count.count() / collective_.ranks); }

  /// The calls of one rank, within a group of all.
  int post(std::uint32_t rank) {
    const auto count = static_cast<std::size_t>(collective_.count.count());
    const int root = static_cast<int>(collective_.root);
    const void* const from = ranks_[rank].at(Buffer::input);
    void* const to = ranks_[rank].at(Buffer::output);
    Handle own = communicators_[rank];
    cudaStream_t stream = ranks_[rank].stream;
    switch (collective_.kind) {
      case CollectiveKind::all_reduce: return nccl_.all_reduce(from, to, count, type_, operation_, own, stream);
      case CollectiveKind::broadcast: return nccl_.broadcast(from, to, count, type_, root, own, stream);
      case CollectiveKind::reduce: return nccl_.reduce(from, to, count, type_, operation_, root, own, stream);
      case CollectiveKind::all_gather: return nccl_.all_gather(from, to, part(), type_, own, stream);
      case CollectiveKind::reduce_scatter:
        return nccl_.reduce_scatter(from, to, part(), type_, operation_, own, stream);
      default: return exchange(rank);
    }
  }

  /// Collectives that NCCL has no function for: every message of them.
  int exchange(std::uint32_t rank) {
    for (std::uint32_t peer = 0; peer < collective_.ranks; ++peer) {
      const Elements out = sent(rank, peer);
      const Elements in = sent(peer, rank);
      if (out > Elements::zero()) {
        const std::byte* const from = ranks_[rank].at(Buffer::input) + first_sent(rank, peer) * element_;
        if (const int status = nccl_.send(from, static_cast<std::size_t>(out.count()), type_, static_cast<int>(peer),
                                          communicators_[rank], ranks_[rank].stream)) {
          return status;
        }
      }
      if (in > Elements::zero()) {
        std::byte* const to = ranks_[rank].at(Buffer::output) + first_received(peer, rank) * element_;
        if (const int status = nccl_.receive(to, static_cast<std::size_t>(in.count()), type_, static_cast<int>(peer),
                                             communicators_[rank], ranks_[rank].stream)) {
          return status;
        }
      }
    }
    return kSuccess;
  }

  Elements sent(std::uint32_t from, std::uint32_t to) const {
    const Elements one{static_cast<std::int64_t>(part())};
    switch (collective_.kind) {
      case CollectiveKind::all_to_all: return one;
      case CollectiveKind::all_to_all_v: return collective_.sizes->size(from, to);
      case CollectiveKind::gather: return to == collective_.root ? one : Elements::zero();
      case CollectiveKind::scatter: return from == collective_.root ? one : Elements::zero();
      case CollectiveKind::send_receive:
        return from == collective_.root && to == (collective_.root + 1) % collective_.ranks ? collective_.count
                                                                                            : Elements::zero();
      default: break;
    }
    require(false, "NCCL has a function for {}", name(collective_.kind));
    return Elements::zero();
  }

  /// Where in the sender's input a message begins.
  std::int64_t first_sent(std::uint32_t from, std::uint32_t to) const {
    switch (collective_.kind) {
      case CollectiveKind::all_to_all_v: return collective_.sizes->input_offset(from, to).count();
      case CollectiveKind::all_to_all:
      case CollectiveKind::scatter: return static_cast<std::int64_t>(part()) * to;
      default: return 0;
    }
  }

  std::int64_t first_received(std::uint32_t from, std::uint32_t to) const {
    switch (collective_.kind) {
      case CollectiveKind::all_to_all_v: return collective_.sizes->output_offset(from, to).count();
      case CollectiveKind::all_to_all:
      case CollectiveKind::gather: return static_cast<std::int64_t>(part()) * from;
      default: return 0;
    }
  }

  void wait() {
    const auto deadline = std::chrono::steady_clock::now() + limit_;
    for (const Rank& rank : ranks_) {
      for (cudaError_t status = cudaEventQuery(rank.end); status != cudaSuccess; status = cudaEventQuery(rank.end)) {
        if (status != cudaErrorNotReady) { check(status, "cudaEventQuery"); }
        if (std::chrono::steady_clock::now() < deadline) { continue; }
        aborted_ = true;
        throw SimulationError("nccl-time-limit",
                              fmt::format("the collective has not ended on GPU {} in time", rank.device));
      }
    }
  }

  const NcclLibrary::Functions& nccl_;
  Collective collective_;
  std::int64_t element_;
  int type_;
  int operation_;
  std::chrono::nanoseconds limit_;
  bool aborted_ = false;
  std::vector<Handle> communicators_;
  std::vector<Rank> ranks_;
};

NcclCollective::NcclCollective(const NcclLibrary& library, const Trial& trial)
    : state_(std::make_unique<State>(library, trial)) {}
NcclCollective::~NcclCollective() = default;

void NcclCollective::write(std::uint32_t rank, Buffer buffer, std::span<const std::byte> data) {
  if (data.empty()) { return; }
  check(cudaMemcpy(state_->at(rank, buffer), data.data(), data.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
}

void NcclCollective::read(std::uint32_t rank, Buffer buffer, std::span<std::byte> data) const {
  if (data.empty()) { return; }
  check(cudaMemcpy(data.data(), state_->at(rank, buffer), data.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
}

double NcclCollective::run() { return state_->run(); }

}  // namespace athanor
