// What the theme leaves out for readers who use the keyboard or a screen reader.
document.addEventListener("DOMContentLoaded", () => {
  // What scrolls sideways can be reached and scrolled by the keyboard, and has a name.
  let codes = 0;
  for (const part of document.querySelectorAll(".bd-content table, .bd-content div.highlight pre")) {
    if (part.scrollWidth > part.clientWidth + 1) {
      part.tabIndex = 0;
      if (part.tagName === "PRE") {
        part.setAttribute("role", "region");
        part.setAttribute("aria-label", `code ${++codes}, scrolls sideways`);
      }
    }
  }
  // Names of buttons and links: the words that are seen, or those beside them.
  for (const button of document.querySelectorAll(".search-button-field")) {
    button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim()); // in narrow windows a lens alone is seen
  }
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a")) {
    link.setAttribute("aria-label", link.textContent.trim());
  }
  for (const summary of document.querySelectorAll("nav summary")) {
    const link = summary.closest("li").querySelector("a");
    summary.setAttribute("aria-label", `pages below ${link ? link.textContent.trim() : "this one"}`);
  }
});
