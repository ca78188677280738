// What scrolls sideways can be reached and scrolled by the keyboard, and has a name.
document.addEventListener("DOMContentLoaded", () => {
  for (const part of document.querySelectorAll(".bd-content table, .bd-content div.highlight pre, .sphx-glr-script-out pre")) {
    if (part.scrollWidth > part.clientWidth + 1) {
      part.tabIndex = 0;
      if (part.tagName !== "TABLE") {
        part.setAttribute("role", "region");
        part.setAttribute("aria-label", "code, scrolls sideways");
      }
    }
  }
  for (const checkbox of document.querySelectorAll("input.toctree-checkbox, nav input[type=checkbox]")) {
    if (!checkbox.getAttribute("aria-label")) checkbox.setAttribute("aria-label", "show the pages below");
  }
});
