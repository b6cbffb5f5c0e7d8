// An inference service: callers of many threads are answered by one worker, in batches.
#include <tern/tern.hpp>
#include <tern/io/safetensors.hpp>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <future>
#include <mutex>
#include <queue>
#include <span>
#include <thread>
using namespace tern;

struct Net : nn::Module<Cpu> {
  nn::Conv1d<Cpu> conv{1, 8, 5, {.padding = 2}};
  nn::BatchNorm1d<Cpu> norm{8};
  nn::Linear<Cpu> out{8 * 32, 4};
  TERN_FIELDS(Net, conv, norm, out)
  Tensor<Cpu> forward(const Tensor<Cpu>& x) { return out(relu(norm(conv(x.unsqueeze(1)))).flatten(1)).softmax(1); }
};

class Service {
 public:
  Service(const std::string& weights, std::size_t max_batch) : max_batch_(max_batch) {
    net_.load_state_dict(io::load_safetensors(weights));
    net_.eval();
    for (auto& p : net_.parameters()) p.requires_grad_(false);
    worker_ = std::jthread([this](std::stop_token stop) { serve(stop); });
  }
  std::future<std::vector<float>> submit(std::vector<float> numbers) {
    Work work{std::move(numbers), {}};
    auto answer = work.answer.get_future();
    {
      const std::lock_guard lock(mutex_);
      waiting_.push(std::move(work));
    }
    ready_.notify_one();
    return answer;
  }

 private:
  struct Work {
    std::vector<float> numbers;
    std::promise<std::vector<float>> answer;
  };
  void serve(std::stop_token stop) {
    InferenceMode inference;
    for (;;) {
      std::vector<Work> batch;
      {
        std::unique_lock lock(mutex_);
        if (!ready_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
        for (; !waiting_.empty() && batch.size() < max_batch_; waiting_.pop())
          batch.push_back(std::move(waiting_.front()));
      }
      if (!answer(batch))  // one of several is wrong
        for (Work& work : batch) answer({&work, 1});
    }
  }
  bool answer(std::span<Work> batch) {
    try {
      std::vector<Tensor<Cpu>> inputs;
      for (const Work& work : batch)
        inputs.push_back(from_blob<Cpu>(work.numbers.data(), {Index(work.numbers.size())}));
      const auto outputs = net_(stack(inputs));
      for (std::size_t i = 0; i < batch.size(); ++i) batch[i].answer.set_value(outputs[Index(i)].to_vector());
    } catch (const Error&) {
      if (batch.size() > 1) return false;
      batch[0].answer.set_exception(std::current_exception());
    }
    return true;
  }
  Net net_;
  const std::size_t max_batch_;
  std::queue<Work> waiting_;
  std::mutex mutex_;
  std::condition_variable_any ready_;
  std::jthread worker_;
};

int main() {
  manual_seed(0);
  const auto path = (std::filesystem::temp_directory_path() / "tern_service.safetensors").string();
  Net net;
  for (int i = 0; i < 3; ++i) net(randn<Cpu>({16, 32}));  // running statistics
  io::save_safetensors(path, net.state_dict());
  net.eval();
  const auto x = randn<Cpu>({200, 32});
  Service service(path, 16);
  std::atomic<int> different = 0;
  std::vector<std::jthread> callers;
  for (Index caller = 0; caller < 8; ++caller)
    callers.emplace_back([&, caller] {
      for (Index i = caller; i < 200; i += 8) {
        auto answer = service.submit(x[i].to_vector());
        const auto alone = net(x[i].unsqueeze(0))[0];
        if (!allclose(tensor<Cpu>(answer.get()), alone, 1e-5, 1e-6)) ++different;
      }
    });
  std::string message;
  try {
    service.submit(std::vector<float>(7)).get();
  } catch (const Error& error) { message = error.what(); }
  for (auto& caller : callers) caller.join();
  std::printf("%d answers differ; a request of 7 numbers: %s\n", int(different), message.c_str());
  return different == 0 && message.find("linear") != std::string::npos ? 0 : 1;
}
