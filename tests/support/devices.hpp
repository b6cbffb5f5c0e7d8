// The devices that tests of tensors are templates over: TEMPLATE_TEST_CASE("…", "[…]", TERN_TEST_DEVICES), with TestType the device.
#pragma once
#include <tern/device/device.hpp>

#define TERN_TEST_DEVICES tern::Cpu
