// How often a network is right about pictures, and how fast.
#pragma once
#include "network.hpp"

class Pictures;

struct Accuracy {
  double top1, top5;       // the parts of the pictures whose class is the likeliest, and among the five likeliest
  double seconds, waited;  // in all, and for pictures to be read
};

/// "top-1 71.20%, top-5 90.10%"
std::string accuracy_text(const Accuracy& accuracy);

/// The accuracy on these pictures, cut as for a test, in evaluation mode.
template <Device D>
Accuracy measure(Network<D>& net, const Pictures& set, const ImageOptions& options);

/// The accuracy, pictures a second, and the times of single pictures, as lines of text.
template <Device D>
std::string speed_text(Network<D>& net, const Pictures& set, const ImageOptions& options);
