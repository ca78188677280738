// A page that is served: fetch it again every few seconds; the choices of the reader stay.
setInterval(async () => {
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const digest = (page) => page.getElementById("data").dataset.digest;
    document.getElementById("gone").hidden = true;
    if (digest(fresh) === digest(document)) return;
    if (fresh.querySelector("style").textContent !== document.querySelector("style").textContent) {
      location.reload(); // this page may not take over another stylesheet than its own
      return;
    }
    const off = new Set([...document.querySelectorAll("form input[type=checkbox]:not(:checked)")].map((box) => box.value));
    const text = document.getElementById("search").value;
    const open = new Set([...document.querySelectorAll("details[open]")].map((one) => one.dataset.name));
    const from = [window.scrollX, window.scrollY];
    document.getElementById("content").replaceWith(document.adoptNode(fresh.getElementById("content")));
    document.getElementById("search").value = text;
    for (const box of document.querySelectorAll("form input[type=checkbox]")) box.checked = !off.has(box.value);
    start();
    for (const one of document.querySelectorAll("details")) one.open = open.has(one.dataset.name);
    window.scrollTo(...from);
  } catch (error) {
    document.getElementById("gone").hidden = false; // the program that served it has ended
  }
}, 4000);
