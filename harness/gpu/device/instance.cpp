#include "harness/gpu/device/instance.h"

#include "harness/device/device_profile.h"
#include "harness/gpu/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace assay::gpu {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

bool layer_exists(const char* name) {
  std::uint32_t count = 0;
  check(vkEnumerateInstanceLayerProperties(&count, nullptr), "listing the Vulkan layers");
  std::vector<VkLayerProperties> layers(count);
  check(vkEnumerateInstanceLayerProperties(&count, layers.data()), "listing the Vulkan layers");
  return std::any_of(layers.begin(), layers.end(), [name](const VkLayerProperties& layer) {
    return std::string_view(layer.layerName) == name;
  });
}

/// Extensions of the loader and drivers (`layer` null) or of one layer.
std::vector<std::string> instance_extensions(const char* layer) {
  std::uint32_t count = 0;
  check(vkEnumerateInstanceExtensionProperties(layer, &count, nullptr), "listing the instance extensions");
  std::vector<VkExtensionProperties> found(count);
  check(vkEnumerateInstanceExtensionProperties(layer, &count, found.data()),
        "listing the instance extensions");
  std::vector<std::string> names;
  for (const VkExtensionProperties& extension : found) {
    names.emplace_back(extension.extensionName);
  }
  return names;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The layers and extensions for VkInstanceCreateInfo.
struct Wishes {
  std::vector<const char*> layers;
  std::vector<const char*> extensions;
  VkInstanceCreateFlags flags = 0;
  bool synchronization_validation = false;
};

Wishes wishes_for(const InstanceOptions& options) {
  Wishes wishes;
  std::vector<std::string> there = instance_extensions(nullptr);
  if (options.validation) {
    if (!layer_exists(validation_layer)) {
      throw Error(
          fmt::format("turning on Vulkan validation: the layer {} is not installed; install the "
                      "package vulkan-validationlayers, or run without --validation",
                      validation_layer));
    }
    wishes.layers.push_back(validation_layer);
    const std::vector<std::string> of_layer = instance_extensions(validation_layer);
    wishes.synchronization_validation = contains(of_layer, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
    there.insert(there.end(), of_layer.begin(), of_layer.end());
  }
  if (wishes.synchronization_validation) {
    wishes.extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
  }
  if (contains(there, VK_EXT_DEBUG_UTILS_EXTENSION_NAME)) {
    wishes.extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  }
  // Without this extension the loader hides devices that are not fully conformant (MoltenVK).
  if (contains(there, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
    wishes.extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    wishes.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
  }
  return wishes;
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                          VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void* log) {
  if (!layer_is_too_old(data->pMessage)) {
    static_cast<MessageLog*>(log)->add(data->pMessage);
  }
  return VK_FALSE;  // do not abort the call that caused the message
}

/// General messages are left out: they come from the loader and the drivers, not from validation.
VkDebugUtilsMessengerCreateInfoEXT messenger_info(MessageLog& log) {
  VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  // No performance messages: they are not about misuse, and performance is measured here. (The layer would
  // have a texture change its image layout for every copy.)
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = on_message;
  info.pUserData = &log;
  return info;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string without_dashes(std::string text) {
  std::erase(text, '-');
  return text;
}

std::string listing(const std::vector<DeviceInfo>& devices) {
  std::string text;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    text += fmt::format("\n  {}: {} ({}, UUID {})", i, devices[i].name, devices[i].type, devices[i].uuid);
  }
  return text;
}

int rank_of(const DeviceInfo& device) {
  const std::array<std::string_view, 4> order{"discrete", "integrated", "virtual", "cpu"};
  return static_cast<int>(std::find(order.begin(), order.end(), device.type) - order.begin());
}

std::size_t best(const std::vector<DeviceInfo>& devices) {
  const auto found =
      std::min_element(devices.begin(), devices.end(),
                       [](const DeviceInfo& a, const DeviceInfo& b) { return rank_of(a) < rank_of(b); });
  return static_cast<std::size_t>(found - devices.begin());
}

std::optional<std::size_t> as_index(std::string_view text, std::size_t count) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc{} || end != text.data() + text.size() || index >= count) {
    return std::nullopt;
  }
  return index;
}

template <class Match>
std::vector<std::size_t> matching(const std::vector<DeviceInfo>& devices, const Match& match) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (match(devices[i])) {
      found.push_back(i);
    }
  }
  return found;
}

/// A full name takes precedence over a part of one: "A100" means the A100 even if there is an "A100 PCIe".
std::vector<std::size_t> by_name(const std::vector<DeviceInfo>& devices, const std::string& wanted) {
  const auto whole =
      matching(devices, [&](const DeviceInfo& device) { return lower(own_name(device)) == wanted; });
  if (!whole.empty()) {
    return whole;
  }
  return matching(devices, [&](const DeviceInfo& device) {
    return lower(own_name(device)).find(wanted) != std::string::npos;
  });
}

std::size_t pick_one(const std::vector<DeviceInfo>& devices, const std::string& asked) {
  if (const auto index = as_index(asked, devices.size())) {
    return *index;
  }
  const std::string wanted = lower(asked);
  const auto same_uuid =
      matching(devices, [&](const DeviceInfo& device) { return device.uuid == without_dashes(wanted); });
  const std::vector<std::size_t> found = !same_uuid.empty() ? same_uuid : by_name(devices, wanted);
  if (found.empty()) {
    throw Error(fmt::format("selecting device '{}': no device has this index, UUID or name; there are:{}",
                            asked, listing(devices)));
  }
  if (found.size() > 1) {
    throw Error(fmt::format("selecting device '{}': {} devices match; name one by its index{}:{}", asked,
                            found.size(), same_uuid.empty() ? " or UUID" : "", listing(devices)));
  }
  return found.front();
}

void add(std::vector<std::size_t>& selected, std::size_t index) {
  if (std::find(selected.begin(), selected.end(), index) == selected.end()) {
    selected.push_back(index);
  }
}

}  // namespace

bool layer_is_too_old(std::string_view message) {
  const auto has = [message](std::string_view part) { return message.find(part) != std::string_view::npos; };
  // The layer's validator of SPIR-V may be older than VK_KHR_cooperative_matrix, whose capability it names.
  return (has("SPIR-V module not valid") && has("Invalid capability operand: 6022")) ||
         has("includes a structure with unknown VkStructureType") ||
         (has("Device Extension ") && has(" is not supported by this layer"));
}

void MessageLog::add(std::string text) {
  const std::lock_guard lock(mutex_);
  ++count_;
  const auto same = std::ranges::find(messages_, text, &Message::text);
  if (same != messages_.end()) {  // repeated: it counts as the newest
    messages_.erase(same);
  }
  messages_.push_back({std::move(text), count_});
  if (messages_.size() > kept) {
    messages_.pop_front();
  }
}

std::int64_t MessageLog::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::vector<std::string> MessageLog::texts(std::int64_t after) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  for (const Message& message : messages_) {
    if (message.number > after) texts.push_back(message.text);
  }
  return texts;
}

std::vector<PhysicalDevice> describe_all(
    std::span<const VkPhysicalDevice> handles,
    const std::function<std::optional<PhysicalDevice>(VkPhysicalDevice)>& describe_one) {
  std::vector<PhysicalDevice> described;
  std::string failures;
  for (VkPhysicalDevice handle : handles) {
    try {
      if (std::optional<PhysicalDevice> one = describe_one(handle)) described.push_back(std::move(*one));
    } catch (const Error& error) {
      failures += fmt::format("{}{}", failures.empty() ? "" : "; ", error.what());
    }
  }
  if (!failures.empty()) {
    throw Error(
        fmt::format("looking for Vulkan devices: a driver fails ({}); install it again, or leave it out "
                    "with the loader's variable VK_LOADER_DRIVERS_DISABLE ('*name*' of its JSON file)",
                    failures),
        ExitCode::NoDevice);
  }
  return described;
}

Instance::State::State(const InstanceOptions& options)
    : robust_access(options.robust_access), messages(std::make_unique<MessageLog>()) {
  if (volkInitialize() != VK_SUCCESS) {
    throw Error("looking for Vulkan devices: there is no Vulkan loader; install the package libvulkan1",
                ExitCode::NoDevice);
  }
  create(options);
  volkLoadInstanceOnly(handle);
  try {
    load_debug_utils();
    if (options.validation) {
      listen();
    }
    list_devices(options.as_if);
  } catch (...) {
    destroy();
    throw;
  }
}

void Instance::State::create(const InstanceOptions& options) {
  if (volkGetInstanceVersion() < VK_API_VERSION_1_1) {
    throw Error(
        "looking for Vulkan devices: the Vulkan loader is older than 1.1; update the package libvulkan1",
        ExitCode::NoDevice);
  }
  const Wishes wishes = wishes_for(options);
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "assay";
  // The highest version whose features are used if a device has them; the minimum is checked per device.
  application.apiVersion = VK_API_VERSION_1_3;

  const VkValidationFeatureEnableEXT synchronization =
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  VkValidationFeaturesEXT validation{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT};
  validation.enabledValidationFeatureCount = 1;
  validation.pEnabledValidationFeatures = &synchronization;

  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pNext = wishes.synchronization_validation ? &validation : nullptr;
  info.flags = wishes.flags;
  info.pApplicationInfo = &application;
  info.enabledLayerCount = static_cast<std::uint32_t>(wishes.layers.size());
  info.ppEnabledLayerNames = wishes.layers.data();
  info.enabledExtensionCount = static_cast<std::uint32_t>(wishes.extensions.size());
  info.ppEnabledExtensionNames = wishes.extensions.data();
  const VkResult result = vkCreateInstance(&info, nullptr, &handle);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    throw Error(
        "looking for Vulkan devices: the Vulkan loader finds no usable driver; install the device's "
        "driver, or the package mesa-vulkan-drivers for a CPU device",
        ExitCode::NoDevice);
  }
  check(result, "creating the Vulkan instance");
}

void Instance::State::load_debug_utils() {
  const auto load = [this](const char* name) { return vkGetInstanceProcAddr(handle, name); };
  begin_label = reinterpret_cast<PFN_vkCmdBeginDebugUtilsLabelEXT>(load("vkCmdBeginDebugUtilsLabelEXT"));
  end_label = reinterpret_cast<PFN_vkCmdEndDebugUtilsLabelEXT>(load("vkCmdEndDebugUtilsLabelEXT"));
  set_name = reinterpret_cast<PFN_vkSetDebugUtilsObjectNameEXT>(load("vkSetDebugUtilsObjectNameEXT"));
}

void Instance::State::listen() {
  const auto create_messenger = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
      vkGetInstanceProcAddr(handle, "vkCreateDebugUtilsMessengerEXT"));
  if (create_messenger == nullptr) {
    throw Error(
        "turning on Vulkan validation: neither loader nor layer offers VK_EXT_debug_utils, so its "
        "messages cannot be received; update the package vulkan-validationlayers");
  }
  const VkDebugUtilsMessengerCreateInfoEXT info = messenger_info(*messages);
  check(create_messenger(handle, &info, nullptr, &messenger), "listening to the validation layer");
}

void Instance::State::list_devices(const std::optional<DeviceProfile>& as_if) {
  std::uint32_t count = 0;
  check(vkEnumeratePhysicalDevices(handle, &count, nullptr), "listing the Vulkan devices");
  std::vector<VkPhysicalDevice> handles(count);
  check(vkEnumeratePhysicalDevices(handle, &count, handles.data()), "listing the Vulkan devices");
  handles.resize(count);
  physical = describe_all(handles);
  for (PhysicalDevice& device : physical) {
    if (as_if) device.info = restricted(device.info, *as_if);
    infos.push_back(device.info);
  }
}

Instance::State::~State() {
  if (abandoned) {
    // A hung device belongs to it: leaked like everything of that device, with the log that it may still
    // write to.
    static_cast<void>(messages.release());
    return;
  }
  destroy();
}

void Instance::State::destroy() {
  if (messenger != VK_NULL_HANDLE) {
    const auto destroy_messenger = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(handle, "vkDestroyDebugUtilsMessengerEXT"));
    destroy_messenger(handle, messenger, nullptr);
  }
  vkDestroyInstance(handle, nullptr);
}

Instance::Instance(const InstanceOptions& options) : state_(std::make_unique<State>(options)) {}
Instance::~Instance() = default;

const std::vector<DeviceInfo>& Instance::devices() const {
  return state_->infos;
}

std::int64_t Instance::validation_messages() const {
  return state_->messages->count();
}

std::vector<std::string> Instance::validation_texts(std::int64_t after) const {
  return state_->messages->texts(after);
}

std::vector<std::size_t> select_devices(const std::vector<DeviceInfo>& devices,
                                        const std::vector<std::string>& asked) {
  if (devices.empty()) {
    throw Error(
        "selecting a device: there is no Vulkan 1.1 device with a compute queue; install the device's "
        "driver, or the package mesa-vulkan-drivers for a CPU device",
        ExitCode::NoDevice);
  }
  if (asked.empty()) {
    return {best(devices)};
  }
  std::vector<std::size_t> selected;
  for (const std::string& text : asked) {
    if (lower(text) == "all") {
      for (std::size_t i = 0; i < devices.size(); ++i) {
        add(selected, i);
      }
    } else {
      add(selected, pick_one(devices, text));
    }
  }
  return selected;
}

}  // namespace assay::gpu
