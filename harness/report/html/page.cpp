#include "harness/report/html/page.h"

namespace assay {

std::string page_html(std::span<const PagePart> parts) {
  std::string html(page_head());
  for (const PagePart& part : parts) {
    html.append(R"(<script type="application/octet-stream" class="data" id=")").append(part.name);
    html.append("\">");
    html.append(part.packed).append("</script>\n");
  }
  return html.append(page_tail());
}

}  // namespace assay
