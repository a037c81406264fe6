// Tables marked data-sorted are sorted by the column whose head is pressed: upwards, downwards, as they were.
// A cell with data-sort is sorted by that number, whatever it shows.
// Without this script the heads are plain text and nothing else is missing.
"use strict";
for (const table of document.querySelectorAll("table[data-sorted]")) {
  const heads = [...table.tHead.rows[0].cells];
  const bodies = [...table.tBodies].filter((body) => !body.classList.contains("result"));
  const rows = bodies.map((body) => [...body.rows]);
  const stays = (row) => /group|mean|passes/.test(row.className);
  const shown = (row, column) => row.cells[column].firstChild?.textContent.trim() ?? "";
  const read = (text) => parseFloat(text.replace("−", "-").replace(/^[^\d.+-]+(?=\d)/, ""));
  const figure = (row, column) => read(row.cells[column].dataset.sort ?? shown(row, column));
  const compare = (column, sign) => (one, other) => {
    if (column === 0) return sign * shown(one, 0).localeCompare(shown(other, 0), undefined, { numeric: true });
    const [first, second] = [figure(one, column), figure(other, column)];
    // What has no figure stands last in both directions.
    return Number.isNaN(first) - Number.isNaN(second) || sign * (first - second) || 0;
  };
  const sort = (column, sign) => {
    const order = compare(column, sign);
    const groups = bodies.map((body, place) => [body, rows[place]]);
    if (sign && groups.every(([, group]) => group.length)) groups.sort(([, one], [, other]) => order(one[0], other[0]));
    for (const [body, group] of groups) {
      const moved = group.filter((row) => !stays(row));
      if (sign) moved.sort(order);
      body.append(...group.map((row) => (stays(row) ? row : moved.shift())));
    }
    table.tHead.after(...groups.map(([body]) => body));
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "" }[head.getAttribute("aria-sort")] ?? "ascending";
      for (const each of heads) each.removeAttribute("aria-sort");
      if (next) head.setAttribute("aria-sort", next);
      sort(column, { ascending: 1, descending: -1 }[next] ?? 0);
    });
  });
}
