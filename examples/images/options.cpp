#include "options.hpp"

const char* const image_help =
    "usage: images --data FOLDER [options]\n"
    "FOLDER has a folder of pictures for each class, or packed shards and their pack.json; or train/ and val/ with "
    "them.\n"
    "models: alexnet vgg16 resnet18 resnet50 googlenet mobilenet_v2 inception_v3 xception vit_b_16 (resnet18)\n"
    "  --weights FILE           start from these weights, of torchvision (xception: timm) or of --save; for other "
    "classes the last\n"
    "                           layer is new\n"
    "  --freeze                 train the last layer alone\n"
    "  --size N                 pictures are N x N (224; inception_v3 and xception 299); smaller ones leave "
    "inception_v3 without its auxiliary head\n"
    "  --micro-batch N          compute N pictures of a batch at once, and add their gradients\n"
    "  --schedule NAME          of the learning rate, by steps: cosine; step, a tenth after each third; constant "
    "(cosine)\n"
    "  --warmup EPOCHS          in which the learning rate rises to its start (0)\n"
    "  --label-smoothing X      the part of each target that is spread over all classes (0)\n"
    "  --target-accuracy X      the same as --target\n"
    "  --evaluate               no training: accuracy, images a second, and the latency of one picture\n"
    "  --skip-bad               leave out damaged pictures, and say how many\n";

namespace {

[[noreturn]] void refuse(const std::string& why) { throw std::runtime_error("images: " + why); }

void check(const ImageOptions& o) {
  const std::string batch = std::to_string(o.batch_size), micro = std::to_string(o.micro_batch);
  if (o.data.empty()) refuse("--data must name a folder with class folders, or with packed shards and their pack.json");
  support::check_choice("--schedule", o.schedule, {"cosine", "step", "constant"});
  if (o.label_smoothing > 1) refuse("--label-smoothing must be at most 1, not " + std::to_string(o.label_smoothing));
  if (o.micro_batch && o.batch_size % o.micro_batch != 0)
    refuse("--micro-batch " + micro + " does not divide --batch-size " + batch);
  if (o.micro_batch && o.accumulate != 1) refuse("--micro-batch and --accumulate exclude each other");
  if (o.warmup && o.warmup >= o.epochs)
    refuse("--warmup " + std::to_string(o.warmup) + " must be less than --epochs " + std::to_string(o.epochs));
  if (o.freeze && o.weights.empty() && o.resume.empty())
    refuse("--freeze needs --weights FILE, as the frozen layers learn nothing");
  if (o.evaluate && o.weights.empty()) refuse("--evaluate needs --weights FILE");
  if (o.evaluate && o.freeze) refuse("--evaluate and --freeze exclude each other");
  const PicturePlan plan = plan_of(o);
  if (plan.size < plan.least)
    refuse("--size " + std::to_string(o.size) + " is too small for " + o.model + ", which takes " +
           std::to_string(plan.least) + " and more");
  if (o.model == "vit_b_16" && plan.size % 16 != 0)
    refuse("--size " + std::to_string(o.size) + " is no multiple of vit_b_16's patches of 16");
}

}  // namespace

ImageOptions parse_image_options(int argc, char** argv) {
  ImageOptions o;
  o.model = "resnet18";
  o.batch_size = 32;
  support::parse_options(argc, argv, o,
                         {{.name = "--weights", .text = &o.weights, .wants = "a file of weights"},
                          {.name = "--freeze", .flag = &o.freeze},
                          {.name = "--size", .index = &o.size, .least = 1, .most = 4096},
                          {.name = "--micro-batch", .index = &o.micro_batch, .least = 1},
                          {.name = "--schedule", .text = &o.schedule, .wants = "cosine, step or constant"},
                          {.name = "--warmup", .index = &o.warmup},
                          {.name = "--label-smoothing", .number = &o.label_smoothing},
                          {.name = "--target-accuracy", .number = &o.target},
                          {.name = "--skip-bad", .flag = &o.skip_bad},
                          {.name = "--evaluate", .flag = &o.evaluate}});
  if (o.help) return o;
  check(o);
  if (o.micro_batch) {
    o.accumulate = o.batch_size / o.micro_batch;
    o.batch_size = o.micro_batch;
  }
  return o;
}

PicturePlan plan_of(const ImageOptions& options) {
  std::string names;
  for (PicturePlan plan : plans) {
    names += std::string(" ") + plan.model;
    if (options.model != plan.model) continue;
    if (options.size) {
      plan.shorter = (plan.shorter * options.size + plan.size / 2) / plan.size;
      plan.size = options.size;
    }
    return plan;
  }
  refuse("there is no --model '" + options.model + "', but" + names);
}
