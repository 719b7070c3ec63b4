#include "block.h"
namespace earshot::EARSHOT_BACKEND {
struct Nothing { KERNEL_FN void operator()(const Block&, int) const {} };
void nothing(const Launch& how) { launch<Nothing>(how, 0); }
}
