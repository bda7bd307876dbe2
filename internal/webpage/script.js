"use strict";
(() => {
  const say = (text) => { document.getElementById("said").textContent = text; };

  // Tables: a button in each heading sorts by its column, up at first, then down and up again. Empty entries stay last.
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    const headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    for (const th of headings) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...th.childNodes);
      th.append(button);
      button.addEventListener("click", () => {
        const order = th.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
        headings.forEach((h) => h.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", order);
        sort(table, th.cellIndex, th.classList.contains("number"), order === "ascending" ? 1 : -1);
        say(`${table.caption.textContent}: sorted by ${button.textContent}, ${order}`);
      });
    }
  }

  // What is wider than its place says so, until its end is seen.
  for (const wide of document.querySelectorAll(".wide")) {
    const cue = document.createElement("p");
    cue.className = "cue quiet";
    cue.textContent = "Scroll sideways for the rest \u2192";
    wide.before(cue);
    const look = () => {
      const left = wide.scrollWidth - wide.clientWidth - wide.scrollLeft;
      wide.classList.toggle("more", left > 2);
      cue.hidden = wide.scrollWidth <= wide.clientWidth + 2;
    };
    wide.addEventListener("scroll", look);
    new ResizeObserver(look).observe(wide);
    look();
  }

  function sort(table, column, numeric, sign) {
    const body = table.tBodies[0];
    const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
    const compare = (a, b) => {
      const x = key(a), y = key(b);
      if (x === "" || y === "") return (x === "") - (y === "");
      return sign * (numeric ? x - y : x.localeCompare(y, "en", { numeric: true }));
    };
    body.append(...[...body.rows].sort(compare));
  }

  // Figures: pointing at the picture, or moving the slider below it, reads the table of its numbers at that place.
  for (const figure of document.querySelectorAll("figure")) {
    const svg = figure.querySelector("svg");
    const table = figure.querySelector("table");
    const rows = [...table.tBodies[0].rows].filter((r) => r.dataset.x);
    if (rows.length === 0) continue;
    const [groups, columns] = table.tHead.rows.length === 2 ? table.tHead.rows : [null, table.tHead.rows[0]];
    const [what, ...besides] = columns.cells[0].textContent.split(", ");
    const lines = new Map(); // name of a line to the columns that have it, one for each panel
    for (const th of [...columns.cells].slice(1)) lines.set(th.textContent, [...(lines.get(th.textContent) ?? []), th.cellIndex]);
    const panels = groups ? [...groups.cells].map((c) => c.textContent).filter((t) => t !== "") : [];

    const reading = document.createElement("div");
    reading.className = "reading";
    const label = document.createElement("label");
    const at = document.createElement("span");
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 0, max: rows.length - 1, step: 1, value: rows.length - 1 });
    label.append(at, slider);
    const list = document.createElement("dl");
    reading.append(label, list);
    figure.querySelector(".picture").after(reading);

    const guide = document.createElementNS("http://www.w3.org/2000/svg", "line");
    guide.setAttribute("class", "guide");
    const { y, height } = svg.viewBox.baseVal;
    guide.setAttribute("y1", y + 26);
    guide.setAttribute("y2", y + height - 24);
    guide.setAttribute("visibility", "hidden");
    svg.append(guide);

    const show = (k, seen) => {
      const row = rows[k];
      const where = [`${what} = ${row.cells[0].textContent}`, ...besides].join(", ");
      at.textContent = panels.length > 1 ? `${where}: ${panels.join(" / ")}` : where;
      slider.value = k;
      slider.setAttribute("aria-label", `Read ${svg.querySelector("title").textContent}`);
      list.replaceChildren();
      const words = [];
      for (const [name, cells] of lines) {
        const values = cells.map((c) => row.cells[c].textContent || "-").join(" / ");
        const div = document.createElement("div"), dt = document.createElement("dt"), dd = document.createElement("dd");
        dt.textContent = name;
        dd.textContent = values;
        div.append(dt, dd);
        list.append(div);
        words.push(`${name} ${values}`);
      }
      slider.setAttribute("aria-valuetext", `${where}: ${words.join("; ")}`);
      guide.setAttribute("x1", row.dataset.x);
      guide.setAttribute("x2", row.dataset.x);
      guide.setAttribute("visibility", seen ? "visible" : "hidden");
    };
    const first = rows.findIndex((r) => "start" in r.dataset);
    show(first < 0 ? rows.length - 1 : first, false);
    slider.addEventListener("input", () => show(Number(slider.value), true));
    svg.addEventListener("pointermove", (e) => {
      const x = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
      let k = 0;
      rows.forEach((r, i) => { if (Math.abs(r.dataset.x - x) < Math.abs(rows[k].dataset.x - x)) k = i; });
      show(k, true);
    });
  }
})();
