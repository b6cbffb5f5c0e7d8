// Networks for images and for text.
#pragma once
#include "alexnet.hpp"
#include "googlenet.hpp"
#include "gpt2.hpp"
#include "inception_v3.hpp"
#include "llama.hpp"
#include "load.hpp"
#include "mobilenet_v2.hpp"
#include "resnet.hpp"
#include "vgg.hpp"
#include "xception.hpp"
