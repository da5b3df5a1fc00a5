// A library that looks like RenderDoc to an application and counts the calls.

namespace {

using Function = void (*)();

int started = 0;
int ended = 0;
int wrong = 0;

void start(void* device, void* window) {
  if (device != nullptr || window != nullptr || started != ended) ++wrong;
  ++started;
}

unsigned end(void* device, void* window) {
  if (device != nullptr || window != nullptr) ++wrong;
  ++ended;
  return 1;
}

void any_other() {
  ++wrong;
}

Function table[27];

}  // namespace

extern "C" {

int RENDERDOC_GetAPI(int version, void** api) {
  if (version != 10000) return 0;
  for (Function& entry : table) entry = any_other;
  table[19] = reinterpret_cast<Function>(start);
  table[21] = reinterpret_cast<Function>(end);
  *api = table;
  return 1;
}

int fake_started() {
  return started;
}
int fake_ended() {
  return ended;
}
int fake_wrong() {
  return wrong;
}
}
