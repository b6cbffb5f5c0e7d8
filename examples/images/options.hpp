// The options of training on pictures.
#pragma once
#include "support/options.hpp"

using namespace tern;

struct ImageOptions : support::Options {
  std::string weights = "";         // to start from
  std::string schedule = "cosine";  // of the learning rate, by steps
  Index size = 0;                   // of the pictures that the network sees; 0: the model's own
  Index micro_batch = 0;            // 0: a batch is computed at once
  Index warmup = 0;                 // epochs
  double label_smoothing = 0;
  bool freeze = false;    // all but the last layer
  bool evaluate = false;  // instead of training
};

/// How pictures are made for a model.
struct PicturePlan {
  const char* model;
  Index size = 224, shorter = 256;  // what the network sees, and the shorter side that it is cut out of in evaluation
  Index least = 32;                 // the smallest size that its layers take
  bool imagenet = true;             // normalised with ImageNet's statistics; else with 0.5
  double rate = 0.1;                // of learning, for a batch of 256
};
inline constexpr PicturePlan plans[] = {
    {.model = "alexnet", .least = 63, .rate = 0.01},
    {.model = "vgg16", .rate = 0.01},
    {.model = "resnet18"},
    {.model = "resnet50"},
    {.model = "googlenet"},
    {.model = "mobilenet_v2"},
    {.model = "inception_v3", .size = 299, .shorter = 342, .least = 75},
    {.model = "xception", .size = 299, .shorter = 333, .least = 71, .imagenet = false},
    {.model = "vit_b_16", .rate = 0.01},
};

/// The options of the command line. std::runtime_error or Error that names an option that cannot be.
ImageOptions parse_image_options(int argc, char** argv);

/// The plan of the options' model, for the options' size.
PicturePlan plan_of(const ImageOptions& options);

extern const char* const image_help;
