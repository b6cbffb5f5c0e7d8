#include "block_runner.hpp"

#include <cstring>
#include <vector>

#include "abi.hpp"
#include "fibre.hpp"

#if defined(__x86_64__)
__asm__(R"(.text
.globl tern_emulator_switch
.type tern_emulator_switch, @function
tern_emulator_switch:
  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
  ret
.size tern_emulator_switch, .-tern_emulator_switch
)");
#endif

namespace emulator {

Running running;

namespace {

enum class State : unsigned char { idle, ready, at_barrier, in_warp };

struct Fibre {
  FibreContext context;
  unsigned thread[3], linear;
  State state = State::idle;
  int site, source;
  BarrierOp barrier_op;
  WarpOp warp_op;
  unsigned mask;
  std::uint64_t value, result;
};

// The block that runs.
struct Block {
  const Shape* shape;
  const unsigned char* parameters;
  bool reversed;
  unsigned threads, next, live;  // threads in all, not started, not finished
  unsigned at_barrier, barrier_sum;
  std::vector<Fibre*> pool, ready, by_thread;
  std::size_t first_idle;  // no fibre of the pool before it is idle
  std::vector<unsigned> warp_waiting, warp_syncs;
  Fibre* current;
  FibreContext scheduler;
  Fault fault;  // why it cannot go on
} block;

Fault stuck(const char* text) { return {abi::CUDA_ERROR_LAUNCH_FAILED, text}; }

void set_thread_index(const Fibre* fibre) {
  unsigned* index = running.module->thread_index;
  for (int i = 0; i < 3; ++i) index[i] = fibre->thread[i];
}

void wake(Fibre* fibre) {
  fibre->state = State::ready;
  block.ready.push_back(fibre);
}

void suspend(Fibre* fibre, State state) {
  fibre->state = state;
  switch_fibre(fibre->context, block.scheduler);
}

// The i-th thread to run.
unsigned in_order(unsigned i) { return block.reversed ? block.threads - 1 - i : i; }

void release_barrier() {
  int site = -1;
  for (unsigned i = 0; i < block.threads; ++i) {
    Fibre* fibre = block.by_thread[in_order(i)];
    if (!fibre || fibre->state != State::at_barrier) continue;
    if (site >= 0 && fibre->site != site) block.fault = stuck("threads of one block wait at different __syncthreads()");
    site = fibre->site;
    switch (fibre->barrier_op) {
      case BarrierOp::plain: fibre->result = 0; break;
      case BarrierOp::count: fibre->result = block.barrier_sum; break;
      case BarrierOp::any: fibre->result = block.barrier_sum != 0; break;
    }
    wake(fibre);
  }
  block.at_barrier = block.barrier_sum = 0;
  pass_barrier();
}

int barrier(int site, BarrierOp op, int predicate) {
  Fibre* me = block.current;
  me->site = site;
  me->barrier_op = op;
  me->state = State::at_barrier;
  block.barrier_sum += predicate;
  // The last one in goes through the queue as well, so that every thread goes on in order.
  if (++block.at_barrier == block.live) release_barrier();
  switch_fibre(me->context, block.scheduler);
  return static_cast<int>(me->result);
}

// Completes the collective that the lanes of `mask` wait in, if they all do.
void release_warp(unsigned first, unsigned mask, const Fibre* me) {
  unsigned ballot = 0;
  for (unsigned rest = mask; rest; rest &= rest - 1) {
    const unsigned lane = __builtin_ctz(rest);
    const Fibre* fibre = block.by_thread[first + lane];
    if (!fibre || fibre->state != State::in_warp || fibre->mask != me->mask || fibre->warp_op != me->warp_op) return;
    ballot |= static_cast<unsigned>(fibre->value & 1) << lane;
  }
  for (unsigned rest = mask; rest; rest &= rest - 1) {
    Fibre* fibre = block.by_thread[first + __builtin_ctz(rest)];
    const unsigned source = fibre->source & 31;
    // A value read from a lane that takes no part is undefined: all ones, like poisoned memory.
    const bool present = mask >> source & 1;
    fibre->result = fibre->warp_op == WarpOp::ballot ? ballot
                    : present                        ? block.by_thread[first + source]->value
                                                     : ~0ull;
  }
  for (unsigned rest = mask; rest; rest &= rest - 1) wake(block.by_thread[first + __builtin_ctz(rest)]);
  block.warp_waiting[first / 32] -= __builtin_popcount(mask);
  block.warp_syncs[first / 32] += me->warp_op == WarpOp::sync;
}

std::uint64_t warp(WarpOp op, unsigned mask, std::uint64_t value, int source) {
  Fibre* me = block.current;
  const unsigned first = me->linear / 32 * 32;
  const unsigned lanes = block.threads - first < 32 ? block.threads - first : 32;
  me->warp_op = op;
  me->mask = mask;
  me->value = value;
  me->source = source;
  me->state = State::in_warp;
  if (lanes < 32) mask &= (1u << lanes) - 1;
  if (!(mask >> (me->linear - first) & 1)) {
    block.fault = stuck("a thread calls a warp collective whose mask omits it");
    suspend(me, State::idle);
  }
  if (++block.warp_waiting[first / 32] >= static_cast<unsigned>(__builtin_popcount(mask)))
    release_warp(first, mask, me);
  switch_fibre(me->context, block.scheduler);
  return me->result;
}

void stop_at(const Fault& fault) {
  if (!fault) return;
  block.fault = fault;
  suspend(block.current, State::idle);
}

void access(const void* address, std::size_t bytes, Access access, bool aligned) {
  const unsigned thread = block.current->linear;
  stop_at(check_access(address, bytes, access, aligned, thread, block.warp_syncs[thread / 32]));
}

void misuse(Misuse misuse, unsigned line) { stop_at(misuse_fault(misuse, line)); }

// A fibre's body: threads one after another, as long as none of them waits.
void run_threads() {
  for (;;) {
    Fibre* me = block.current;
    while (block.next < block.threads && !block.fault) {
      const unsigned i = block.next++, x = block.shape->block[0], y = block.shape->block[1];
      me->linear = in_order(i);
      me->thread[0] = me->linear % x;
      me->thread[1] = me->linear / x % y;
      me->thread[2] = me->linear / (x * y);
      block.by_thread[me->linear] = me;
      set_thread_index(me);
      running.kernel->call(block.parameters);
      block.by_thread[me->linear] = nullptr;
      if (--block.live && block.at_barrier == block.live) release_barrier();
    }
    suspend(me, State::idle);
  }
}

Fibre* idle_fibre() {
  for (std::size_t& i = block.first_idle; i < block.pool.size(); ++i)
    if (block.pool[i]->state == State::idle) return block.pool[i];
  auto* fibre = new Fibre;
  prepare_fibre(fibre->context, run_threads);
  block.pool.push_back(fibre);
  return fibre;
}

void resume(Fibre* fibre) {
  block.current = fibre;
  set_thread_index(fibre);
  switch_fibre(block.scheduler, fibre->context);
}

bool run_block() {
  block.next = block.at_barrier = block.barrier_sum = 0;
  block.live = block.threads;
  block.first_idle = 0;
  block.ready.clear();
  block.by_thread.assign(block.threads, nullptr);
  block.warp_waiting.assign((block.threads + 31) / 32, 0);
  block.warp_syncs.assign((block.threads + 31) / 32, 0);
  begin_block_checks();
  const KernelModule& module = *running.module;
  std::memset(module.shared_begin, 0xff, module.shared_end - module.shared_begin);
  std::memset(*module.dynamic_shared, 0xff, block.shape->shared);
  std::size_t k = 0;
  while (block.live && !block.fault) {
    if (k < block.ready.size()) {
      resume(block.ready[k++]);
    } else if (block.next < block.threads) {
      block.ready.clear();
      k = 0;
      resume(idle_fibre());
    } else {
      block.fault =
          stuck(block.at_barrier ? "deadlock: some threads wait at a barrier, others in a warp collective"
                                 : "deadlock: a lane named in a warp collective's mask has left or waits elsewhere");
    }
  }
  return !block.fault;
}

}  // namespace

Fault run_launch(const KernelModule& module, const KernelEntry& kernel, const Shape& shape,
                 const unsigned char* parameters, bool reversed) {
  static Services services{barrier, warp, access, misuse};
  alignas(1024) static char dynamic_shared[2 * shared_gap + (256 << 10)];
  running = {&module, &kernel};
  *module.services = services;
  *module.dynamic_shared = dynamic_shared + shared_gap;
  begin_checks(module, dynamic_shared + shared_gap, shape.shared);
  std::memcpy(module.block_size, shape.block, sizeof shape.block);
  std::memcpy(module.grid_size, shape.grid, sizeof shape.grid);
  block.shape = &shape;
  block.parameters = parameters;
  block.reversed = reversed;
  block.threads = shape.block[0] * shape.block[1] * shape.block[2];
  block.fault = {};
  const std::uint64_t x = shape.grid[0], y = shape.grid[1], blocks = x * y * shape.grid[2];
  for (std::uint64_t i = 0; i < blocks && !block.fault; ++i) {
    const std::uint64_t b = reversed ? blocks - 1 - i : i;
    module.block_index[0] = static_cast<unsigned>(b % x);
    module.block_index[1] = static_cast<unsigned>(b / x % y);
    module.block_index[2] = static_cast<unsigned>(b / (x * y));
    run_block();
  }
  return block.fault;
}

}  // namespace emulator
