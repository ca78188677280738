"use strict";
// Sorting, filtering, values under the pointer, and the tables behind the curves. Text from the study is only ever
// written as text. `start` may be called again after the content was replaced.
function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = (query, inside = document) => [...inside.querySelectorAll(query)];
  const make = (name, text, parent) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  };
  const show = (value) => (value === null || value === undefined ? "-" : String(value));

  // --- sorting: click on a header, or press it by keyboard; once more turns the order round
  const key = (cell) => {
    const given = cell ? cell.dataset.v : "";
    const text = given !== undefined ? given : cell.textContent.trim();
    const number = text === "" ? NaN : Number(text);
    return Number.isNaN(number) ? text : number;
  };
  const before = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number") return -1; // numbers first, what is missing last
    if (typeof b === "number") return 1;
    return a.localeCompare(b, "en", { numeric: true });
  };
  for (const button of all("th button")) {
    button.addEventListener("click", () => {
      const header = button.closest("th");
      const column = [...header.parentNode.children].indexOf(header);
      const turn = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of header.parentNode.children) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", turn === 1 ? "ascending" : "descending");
      const body = header.closest("table").tBodies[0];
      const rows = [...body.rows].sort((a, b) => turn * before(key(a.cells[column]), key(b.cells[column])));
      body.append(...rows);
    });
  }

  // --- filtering: problems by text, algorithms by box
  const search = document.getElementById("search");
  const boxes = all("form input[type=checkbox]");
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const element of all("[data-p]")) {
      const label = data.problems[element.dataset.p].label.toLowerCase();
      element.classList.toggle("gone", words.length > 0 && !words.some((word) => label.includes(word)));
    }
    const off = new Set(boxes.filter((box) => !box.checked).map((box) => box.value));
    for (const element of all("[data-a]")) element.classList.toggle("gone", off.has(element.dataset.a));
  };
  search.addEventListener("input", filter);
  for (const box of boxes) box.addEventListener("change", filter);
  for (const form of all("form")) form.addEventListener("submit", (event) => event.preventDefault());
  filter();

  // --- values under the pointer, or by the arrow keys
  const tip = document.getElementById("tip");
  const shown = (series) => boxes.every((box) => box.value !== String(series) || box.checked);
  for (const figure of all("svg[data-curves]")) {
    const problem = data.problems[figure.dataset.curves];
    const [left, right] = figure.dataset.plot.split(" ").map(Number);
    const [, , width, height] = figure.getAttribute("viewBox").split(" ").map(Number);
    const budget = problem.at[problem.at.length - 1];
    let place = -1;
    const cursor = document.createElementNS("http://www.w3.org/2000/svg", "path");
    cursor.setAttribute("class", "cursor");
    figure.append(cursor);
    const tell = (k) => {
      place = Math.max(0, Math.min(problem.at.length - 1, k));
      const x = left + ((right - left) * problem.at[place]) / budget;
      cursor.setAttribute("d", `M${x.toFixed(1)} 30V${height - 50}`);
      tip.replaceChildren();
      make("strong", `${problem.label}, ${problem.at[place]} evaluations`, tip);
      const table = make("table", undefined, tip);
      const head = make("tr", undefined, table);
      for (const name of ["", problem.value, "violation", "feasible"]) make("th", name, head);
      for (const one of problem.by) {
        if (!shown(one.a)) continue;
        const row = make("tr", undefined, table);
        make("td", data.algorithms[one.a], row);
        make("td", show(one.f[1][place]), row);
        make("td", show(one.v[1][place]), row);
        make("td", `${Math.round(100 * one.share[place])} %`, row);
      }
      tip.hidden = false;
      const frame = figure.getBoundingClientRect();
      const from = frame.left + (x / width) * frame.width;
      const size = tip.getBoundingClientRect();
      const beside = from + 14 + size.width < window.innerWidth ? from + 14 : from - 14 - size.width;
      tip.style.left = `${Math.max(4, beside)}px`;
      tip.style.top = `${Math.max(4, Math.min(frame.top + 30, window.innerHeight - size.height - 8))}px`;
    };
    const leave = () => {
      tip.hidden = true;
      cursor.removeAttribute("d");
    };
    figure.addEventListener("pointermove", (event) => {
      const frame = figure.getBoundingClientRect();
      const x = ((event.clientX - frame.left) / frame.width) * width;
      const share = ((x - left) / (right - left)) * budget;
      let best = 0;
      problem.at.forEach((at, k) => {
        if (Math.abs(at - share) < Math.abs(problem.at[best] - share)) best = k;
      });
      tell(best);
    });
    figure.addEventListener("pointerleave", leave);
    figure.addEventListener("blur", leave);
    figure.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, Home: -1e9, End: 1e9 }[event.key];
      if (event.key === "Escape") leave();
      if (!step) return;
      event.preventDefault();
      tell(place < 0 && step > 0 ? 0 : place + step);
    });
  }

  // --- the table behind a figure of curves is made when it is opened
  for (const details of all("details[data-table]")) {
    details.addEventListener("toggle", () => {
      if (!details.open || details.dataset.made) return;
      details.dataset.made = "yes";
      const problem = data.problems[details.dataset.table];
      const table = make("table", undefined, details.querySelector(".wide"));
      const head = make("tr", undefined, make("thead", undefined, table));
      const value = problem.value;
      const names = ["algorithm", "evaluations", `${value} lower`, `${value} median`, `${value} upper`];
      for (const name of [...names, "violation lower", "violation median", "violation upper", "feasible"]) {
        make("th", name, head).scope = "col";
      }
      const body = make("tbody", undefined, table);
      for (const one of problem.by) {
        problem.at.forEach((at, k) => {
          const row = make("tr", undefined, body);
          row.dataset.a = one.a;
          make("td", data.algorithms[one.a], row);
          const values = [at, ...one.f.map((f) => f[k]), ...one.v.map((v) => v[k]), one.share[k]];
          for (const value of values) make("td", show(value), row);
        });
      }
      filter();
    });
  }
}
start();
