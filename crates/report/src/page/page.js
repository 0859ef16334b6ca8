"use strict";
// Shows the findings in #data. Nothing is asked of anybody else; only what is in view is drawn.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const plural = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
  const RULES = {
    race: "Race", "predicted-race": "Race in another schedule", "use-after-free": "Use after free",
    "destroyed-while-held": "Destroyed while held", suspect: "Suspect",
    deadlock: "Deadlock", failure: "Failure",
  };

  /** An element with attributes and children; texts are texts. */
  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (typeof value === "function") made.addEventListener(key, value);
      else if (value !== null && value !== undefined) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  /** `dir/file.c:12:7` in parts; `near dir/file.c:12` is the nearest line that is known. */
  function parts(place) {
    const found = /^(?:near )?(.*?)(?::(\d+))?(?::(\d+))?$/s.exec(place || "");
    return { path: found[1], line: Number(found[2] || 0), column: Number(found[3] || 0) };
  }
  const shortPlace = (place) => {
    const { path, line } = parts(place);
    return path.split("/").pop() + (line ? `:${line}` : "");
  };

  // ---- Theme ----
  const root = document.documentElement;
  const dark = window.matchMedia && window.matchMedia("(prefers-color-scheme: dark)");
  let redraw = () => {};
  function setTheme(theme) {
    root.dataset.theme = theme;
    redraw();
  }
  setTheme(dark && dark.matches ? "dark" : "light");
  const switchTheme = () => setTheme(root.dataset.theme === "dark" ? "light" : "dark");
  byId("theme").addEventListener("click", switchTheme);

  // ---- The list: every entry, those that pass the filters, and the few rows in view ----
  const entries = data.chapters.flatMap((chapter) => chapter.entries.map((entry) => ({ entry, chapter })));
  for (const item of entries) {
    const { entry, chapter } = item;
    const places = entry.sides.flatMap((side) => [side.place, side.thread, ...(side.stack || []).map((call) => call.function)]);
    const others = (entry.others || []).flatMap((other) => [other.label, other.fingerprint]);
    item.text = [entry.message, entry.kind, entry.variable, entry.engine, entry.fingerprint, chapter.title, ...places, ...others]
      .join("\n").toLowerCase();
  }
  const ROW = 80;
  const list = byId("list");
  const rows = byId("rows");
  let shown = entries;
  let selected = 0;

  const kinds = Object.keys(RULES).filter((rule) => entries.some((item) => item.entry.rule === rule));
  const off = new Set();
  if (kinds.length > 1) {
    for (const rule of kinds) {
      const box = element("input", {
        type: "checkbox", checked: "", value: rule,
        change: () => { if (box.checked) off.delete(rule); else off.add(rule); filter(); },
      });
      byId("rules").append(element("label", {}, box, ` ${RULES[rule]}`));
    }
  }
  byId("search").addEventListener("input", () => filter());

  // ---- The order of the list: as reported, or those of one file, variable or thread together ----
  const KEYS = {
    reported: () => "",
    file: ({ entry }) => parts(entry.sides[0] && entry.sides[0].place).path,
    variable: ({ entry }) => entry.variable || "",
    thread: ({ entry }) => entry.sides.map((side) => side.thread).sort()[0] || "",
  };
  entries.forEach((item, index) => { item.index = index; });
  const order = byId("order");
  order.addEventListener("change", () => filter());
  function sorted(items) {
    const key = KEYS[order.value] || KEYS.reported;
    return items.slice().sort((a, b) => key(a).localeCompare(key(b), "en", { numeric: true }) || a.index - b.index);
  }

  function filter() {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const before = shown[selected];
    shown = sorted(entries.filter((item) => !off.has(item.entry.rule) && words.every((word) => item.text.includes(word))));
    const at = shown.indexOf(before);
    rows.style.height = `${shown.length * ROW}px`;
    byId("count").textContent = shown.length === entries.length
      ? plural(entries.length, "finding")
      : `${shown.length.toLocaleString("en")} of ${plural(entries.length, "finding")}`;
    if (at < 0) list.scrollTop = 0;
    select(at < 0 ? 0 : at, at < 0);
  }

  function drawRows() {
    const from = Math.max(0, Math.floor(list.scrollTop / ROW) - 3);
    const to = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 3);
    rows.replaceChildren();
    for (let index = from; index < to; index += 1) {
      const { entry } = shown[index];
      const where = entry.sides.slice(0, 2).map((side) => shortPlace(side.place)).join(" and ");
      const others = entry.others ? ` and ${plural(entry.others.length, "other place")}` : "";
      const often = others + (entry.count > 1 ? `, ${entry.count.toLocaleString("en")} times` : "");
      const first = entry.first ? " · fix first" : "";
      const row = element("div", {
        class: "row", role: "option", id: `row-${index}`, "aria-selected": String(index === selected),
        click: () => select(index, true),
      }, element("b", { title: entry.message }, entry.message.replace(/[^\s`]*\/([^\s/`]+:\d+)/g, "$1")), element("span", {}, `${RULES[entry.rule]}${first} · ${where}${often}`));
      row.style.top = `${index * ROW}px`;
      rows.append(row);
    }
    list.setAttribute("aria-activedescendant", `row-${selected}`);
  }
  list.addEventListener("scroll", () => requestAnimationFrame(drawRows));
  window.addEventListener("resize", () => { drawRows(); redraw(); });

  function select(index, anew) {
    selected = Math.max(0, Math.min(index, shown.length - 1));
    const top = selected * ROW;
    if (top < list.scrollTop) list.scrollTop = top;
    if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
    drawRows();
    if (anew) showDetail(shown[selected]);
  }

  // ---- Sources ----
  function sourceLines(path, line, around) {
    for (const [start, lines] of data.files[path] || []) {
      if (line >= start && line < start + lines.length) {
        const from = Math.max(start, line - around);
        const to = Math.min(start + lines.length - 1, line + around);
        return lines.slice(from - start, to - start + 1).map((text, index) => [from + index, text]);
      }
    }
    return null;
  }
  const sourceLine = (place) => {
    const { path, line } = parts(place);
    const found = sourceLines(path, line, 0);
    return found ? found[0][1].trim() : null;
  };

  function pane(side, which) {
    const { path, line } = parts(side.place);
    const made = element("section", { class: `pane ${which}` },
      element("p", {}, element("b", {}, side.label), element("code", {}, side.place)));
    const lines = line ? sourceLines(path, line, 6) : null;
    if (lines) {
      const code = element("pre", {});
      for (const [number, text] of lines) {
        const row = element("span", { class: number === line ? "code hit" : "code" }, element("i", {}, String(number)));
        if (number === line && side.underline) {
          const [from, to] = side.underline;
          const mark = element("u", {}, text.slice(from, to));
          row.append(text.slice(0, from), mark, text.slice(to));
          // On a long line, what races is in view.
          requestAnimationFrame(() => {
            const over = mark.getBoundingClientRect().right - code.getBoundingClientRect().right;
            if (over > 0) code.scrollLeft += over + 60;
          });
        } else row.append(text);
        code.append(row);
      }
      made.append(code);
    } else {
      made.append(element("p", { class: "missing" }, line ? "The source could not be read." : "This place is in no source file."));
    }
    if (side.stack && side.stack.length > 1) {
      const calls = side.stack.map((call) => element("li", {}, element("code", {}, call.function || "?"), " at ",
        element("code", {}, call.place)));
      made.append(element("details", {}, element("summary", {}, plural(side.stack.length, "call")), element("ol", {}, ...calls)));
    }
    return made;
  }

  // ---- One finding ----
  function showDetail(item) {
    stop();
    redraw = () => {};
    const detail = byId("detail");
    detail.replaceChildren();
    detail.scrollTop = 0;
    if (!item) {
      const clean = entries.length === 0;
      detail.append(element("p", { class: "empty" }, clean ? "No findings." : "No finding passes the filters."));
      if (clean) data.chapters.forEach((chapter) => detail.append(...guarantees(chapter)));
      return;
    }
    const { entry, chapter } = item;
    detail.append(...head(item));
    if (entry.graph) detail.append(...graph(entry.graph));
    if (entry.story) detail.append(...story(entry.story, entry.rule));
    detail.append(element("h3", {}, "What this proves"), ...guarantees(chapter));
    redraw();
  }
  function head({ entry, chapter }) {
    const facts = [
      entry.kind, entry.engine && `found by ${entry.engine}`, entry.count > 1 && `${entry.count.toLocaleString("en")} times`,
      chapter.title, entry.fingerprint,
    ].filter(Boolean).join(" · ");
    const panes = entry.sides.slice(0, 20).map((side, index) => pane(side, index % 2 ? "second" : "first"));
    return [element("h2", {}, entry.message),
      element("p", { class: "facts" }, element("span", { class: `tag ${entry.rule}` }, RULES[entry.rule]),
        entry.first ? element("span", { class: "tag" }, "Fix first") : null, facts),
      element("div", { class: "panes" }, ...panes),
      entry.notes ? element("ul", { class: "notes" }, ...entry.notes.map((note) => element("li", {}, note))) : "",
      entry.remedy ? element("p", { class: "remedy" }, element("b", {}, "What would help: "), entry.remedy) : "",
      entry.others ? others(entry.others) : "",
      entry.suppression ? suppression(entry.suppression) : ""];
  }
  /** Other races that the same change mends. */
  function others(found) {
    const lines = found.map((other) => {
      const source = sourceLine(other.place);
      return element("li", { title: other.fingerprint }, other.label, source ? element("code", {}, ` ${source}`) : "");
    });
    return element("details", { class: "others", open: found.length <= 20 ? "" : null },
      element("summary", {}, `The same bug shows in ${plural(found.length, "other race")}`), element("ul", {}, ...lines));
  }
  /** A line for a file of suppressions, to be copied. */
  function suppression(line) {
    const copy = element("button", {
      type: "button",
      click: () => {
        const done = () => { copy.textContent = "Copied"; };
        if (navigator.clipboard) navigator.clipboard.writeText(line).then(done, () => window.prompt("Copy", line));
        else window.prompt("Copy", line);
      },
    }, "Copy as suppression");
    return element("p", { class: "suppression" }, copy, " ", element("code", {}, line));
  }
  const guarantees = (chapter) => chapter.guarantees.map((text) => element("p", { class: "guarantee" }, text));

  // ---- The graph around a race: a lane for each thread, time downwards ----
  function graph(found) {
    const NS = "http://www.w3.org/2000/svg";
    // Lanes are as wide as they can be side by side, within reason.
    const room = byId("detail").clientWidth - 220;
    const LANE = Math.max(190, Math.min(250, Math.floor(room / found.lanes.length)));
    const STEP = 46, TOP = 44, LEFT = 16, WIDE = LANE - 34, HIGH = 34;
    const width = LEFT * 2 + found.lanes.length * LANE + 150;
    const height = TOP + found.nodes.length * STEP + 30;
    const svg = document.createElementNS(NS, "svg");
    const add = (name, attributes, text) => {
      const made = document.createElementNS(NS, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      if (text !== undefined) made.textContent = text;
      svg.append(made);
      return made;
    };
    const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
    for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, role: "img" })) svg.setAttribute(key, value);
    svg.setAttribute("aria-label", "What orders the events around the race");
    const heads = document.createElementNS(NS, "defs");
    svg.append(heads);
    const arrow = add("marker", { id: "arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto" });
    const tip = document.createElementNS(NS, "path");
    tip.setAttribute("d", "M0 1L10 5L0 9");
    arrow.append(tip);
    heads.append(arrow);
    const x = (node) => LEFT + found.nodes[node].lane * LANE;
    const y = (node) => TOP + node * STEP;
    found.lanes.forEach((name, lane) => {
      const at = LEFT + lane * LANE;
      add("text", { class: "lane", x: at, y: 22 }, cut(name, Math.floor(LANE / 8.3))).append(Object.assign(document.createElementNS(NS, "title"), { textContent: name }));
      add("path", { class: "own", d: `M${at + WIDE / 2} 30V${height - 10}` });
    });
    const line = (from, to, kind) => {
      const same = found.nodes[from].lane === found.nodes[to].lane;
      const right = x(to) > x(from);
      const x1 = same ? x(from) + WIDE : right ? x(from) + WIDE : x(from);
      const x2 = same ? x(to) + WIDE : right ? x(to) : x(to) + WIDE;
      const y1 = y(from) + HIGH / 2, y2 = y(to) + HIGH / 2;
      const bend = same ? x1 + 24 : (x1 + x2) / 2;
      const ends = kind === "race" ? {} : { "marker-end": "url(#arrow)" };
      add("path", { class: kind, d: `M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`, ...ends });
    };
    const isRace = ([from, to]) => found.race.includes(from) && found.race.includes(to);
    found.edges.filter((edge) => !isRace(edge)).forEach(([from, to, kind]) => line(from, to, kind));
    found.nodes.forEach((node, index) => {
      const racing = found.race.includes(index);
      add("rect", { x: x(index), y: y(index), width: WIDE, height: HIGH, rx: 6, class: racing ? "racing" : "" })
        .append(Object.assign(document.createElementNS(NS, "title"), { textContent: `${node.text}\n${node.place}` }));
      add("text", { x: x(index) + 8, y: y(index) + 14 }, cut(node.text, Math.floor(WIDE / 7.7)));
      add("text", { x: x(index) + 8, y: y(index) + 28, class: "place" }, cut(shortPlace(node.place), Math.floor(WIDE / 6.8)));
    });
    const [first, second] = found.race;
    line(first, second, "race");
    add("text", { class: "race", x: Math.max(x(first), x(second)) + WIDE + 8, y: (x(second) > x(first) ? y(second) : y(first)) + HIGH / 2 + 4 },
      "nothing orders these");
    // Where not all of it fits, the race is in view.
    const frame = element("div", { class: "graph", tabindex: "0" }, svg);
    requestAnimationFrame(() => { frame.scrollLeft = Math.max(0, Math.max(x(first), x(second)) + LANE + 150 - frame.clientWidth); });
    return [element("h3", {}, "What is ordered, and what is not"), frame,
      element("p", { class: "legend" },
        "Arrows: what waits for or is started by what; dashed green: reads what was written. The dashed red line is the order that is missing.")];
  }

  // ---- The story: a timeline, and one step after the other ----
  let stop = () => {};
  let keys = () => false;
  function story(told, rule) {
    const { threads, actions, places, events, race } = told;
    const last = events.length - 1;
    const [firstRacing, secondRacing] = race;
    // What each read observes: the last write to the same before it.
    const target = actions.map((action) => /^([\w.]+)\((.*)\)$/s.exec(action) || [action, action, ""]);
    const reads = /^(r|rdata|(aload|aupdate)\..*)$/, writes = /^(w|(astore|aupdate)\..*)$/;
    const is = (kind, action) => kind.test(target[action][1]) && target[action][2] !== "";
    const observed = new Int32Array(events.length).fill(-1);
    const written = new Map();
    events.forEach(([, action], index) => {
      if (is(reads, action)) observed[index] = written.has(target[action][2]) ? written.get(target[action][2]) : -1;
      if (is(writes, action)) written.set(target[action][2], index);
    });
    const takes = /^(acq|racq|isolated)$/, gives = /^(rel|rrel|endisolated)$/;
    const lockOf = (action) => target[action][2] || "isolated";
    /** Who holds what after a step; looked at from a note every 1,000 steps. */
    const notes = [];
    const copy = (held) => held.map((locks) => locks.slice());
    function heldAfter(step) {
      const start = Math.floor(step / 1000);
      if (notes.length === 0) {
        const held = threads.map(() => []);
        (told.held || []).forEach(([thread, lock]) => held[thread].push(lock));
        notes.push(held);
      }
      const advance = (held, from, to) => {
        for (let index = from; index < to; index += 1) {
          const [thread, action] = events[index];
          const word = target[action][1];
          if (takes.test(word)) held[thread].push(lockOf(action));
          else if (gives.test(word)) {
            const at = held[thread].lastIndexOf(lockOf(action));
            if (at >= 0) held[thread].splice(at, 1);
          }
        }
        return held;
      };
      while (notes.length <= start) {
        const known = notes.length;
        notes.push(advance(copy(notes[known - 1]), (known - 1) * 1000, known * 1000));
      }
      return advance(copy(notes[start]), start * 1000, step + 1);
    }

    let step = Math.max(0, Math.min(last, firstRacing));
    let from = Math.max(0, last - 60), to = last + 1;
    let timer = null;
    const canvas = element("canvas", { "aria-label": "Timeline" });
    const now = element("div", { class: "now", role: "status" });
    const table = element("table", { class: "steps mono" });
    const slider = element("input", { type: "range", min: "0", max: String(last), "aria-label": "Step", input: () => go(Number(slider.value)) });
    const play = element("button", { type: "button", id: "play", click: () => (timer === null ? start() : stop()) }, "Play");
    const button = (text, title, act) => element("button", { type: "button", title, click: act }, text);
    const player = element("div", { class: "player" },
      button("|◀", "First step (Home)", () => go(0)), button("◀", "One step back (←)", () => go(step - 1)), play,
      button("▶", "One step on (→)", () => go(step + 1)), button("▶|", "To the race (End)", () => go(secondRacing)),
      slider, button("+", "Zoom in (+)", () => zoom(0.5)), button("−", "Zoom out (−)", () => zoom(2)));
    function start() {
      if (step >= secondRacing) go(Math.max(0, firstRacing - 12));
      play.textContent = "Pause";
      timer = setInterval(() => { if (step >= secondRacing) stop(); else go(step + 1); }, 350);
    }
    stop = () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      play.textContent = "Play";
    };
    function go(index) {
      step = Math.max(0, Math.min(last, index));
      if (step < from || step >= to) {
        const size = to - from;
        from = Math.max(0, Math.min(step - Math.floor(size / 2), events.length - size));
        to = from + size;
      }
      slider.value = String(step);
      draw();
    }
    function zoom(factor, around = step) {
      const size = Math.max(10, Math.min(events.length, Math.round((to - from) * factor)));
      const share = (around - from) / Math.max(1, to - from);
      from = Math.max(0, Math.min(Math.round(around - share * size), events.length - size));
      to = from + size;
      draw();
    }
    const LEFT = 120, LANE = 26, HEAD = 8;
    // Of many threads only those that do something in view have a lane; the timeline is as high as many lanes are.
    const MANY = 24;
    const busy = threads.length > MANY;
    const at = (x) => from + Math.floor(((x - LEFT) / (canvas.clientWidth - LEFT - 8)) * (to - from));
    canvas.addEventListener("click", (event) => go(at(event.offsetX)));
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8, at(event.offsetX)); }, { passive: false });

    function draw() {
      const colours = getComputedStyle(root);
      const colour = (name) => colours.getPropertyValue(`--${name}`).trim();
      const [text, faint, line] = [colour("text"), colour("faint"), colour("line")];
      const [first, second, lock, sync] = [colour("first"), colour("second"), colour("lock"), colour("sync")];
      const active = busy ? [...new Set(events.slice(from, to).map(([thread]) => thread))].sort((a, b) => a - b) : threads.map((_, thread) => thread);
      const row = new Int32Array(threads.length);
      active.forEach((thread, index) => { row[thread] = index; });
      const lane = active.length > MANY ? Math.max(3, Math.floor((MANY * LANE) / active.length)) : LANE;
      const lanes = busy ? Math.max(MANY * LANE, active.length * lane) : active.length * lane;
      const wide = canvas.clientWidth || 800, high = HEAD * 2 + lanes;
      const scale = window.devicePixelRatio || 1;
      canvas.width = wide * scale;
      canvas.height = high * scale;
      canvas.style.height = `${high}px`;
      const pen = canvas.getContext("2d");
      pen.scale(scale, scale);
      pen.clearRect(0, 0, wide, high);
      pen.font = "12px system-ui, sans-serif";
      pen.textBaseline = "middle";
      const each = (wide - LEFT - 8) / Math.max(1, to - from);
      // Where lanes are thin, only the threads that matter now have their names.
      const named = new Set([firstRacing, secondRacing, step].map((index) => events[index][0]));
      active.forEach((thread) => {
        const name = threads[thread];
        const y = HEAD + row[thread] * lane + lane / 2;
        pen.fillStyle = line;
        pen.fillRect(LEFT, y, wide - LEFT - 8, 1);
        if (lane < LANE && !named.has(thread)) return;
        pen.fillStyle = text;
        pen.fillText(name.length > 16 ? `${name.slice(0, 15)}…` : name, 8, y);
      });
      const tick = Math.max(1, Math.min(each - 1, 60));
      // At most one tick a pixel and thread.
      const drawn = new Int32Array(threads.length).fill(-1);
      for (let index = from; index < to; index += 1) {
        const [thread, action] = events[index];
        const x = LEFT + (index - from) * each;
        const racing = index === firstRacing || index === secondRacing;
        if (!racing && Math.floor(x) === drawn[thread] && each < 1) continue;
        drawn[thread] = Math.floor(x);
        const word = target[action][1];
        pen.globalAlpha = index > step ? 0.35 : 1;
        pen.fillStyle = racing ? first : is(writes, action) || is(reads, action) ? second
          : takes.test(word) || gives.test(word) ? lock : sync;
        const wordy = each > 46 && lane >= LANE;
        const low = is(reads, action) && !wordy;
        pen.fillRect(x, HEAD + row[thread] * lane + lane * (low ? 0.3 : 0.12), racing ? Math.max(tick, 3) : tick, lane * (low ? 0.4 : 0.76));
        if (wordy) {
          pen.fillStyle = colour("paper");
          pen.fillText(actions[action].slice(0, Math.floor((tick - 4) / 6.5)), x + 3, HEAD + row[thread] * lane + lane / 2);
        }
      }
      pen.globalAlpha = 1;
      pen.fillStyle = faint;
      pen.fillRect(LEFT + (step - from + 1) * each, 0, 1.5, high);
      describe();
      steps();
    }

    function describe() {
      const [thread, action, place, number] = events[step];
      const held = heldAfter(step);
      const holding = threads.map((name, index) => (held[index].length ? `${name}: ${held[index].join(", ")}` : null)).filter(Boolean);
      const said = [element("p", {}, `Step ${(step + 1 + told.before).toLocaleString("en")} of ${(events.length + told.before).toLocaleString("en")}: `,
        element("b", {}, threads[thread]), " at ", element("code", {}, shortPlace(places[place])), " does ",
        element("code", {}, sourceLine(places[place]) || actions[action]),
        sourceLine(places[place]) ? element("span", {}, " (", element("code", {}, actions[action]), `, event ${number})`) : ` (event ${number})`)];
      if (is(reads, action)) {
        const saw = observed[step];
        said.push(element("p", {}, saw < 0 ? "It reads what was there before these steps."
          : `It reads what ${threads[events[saw][0]]} wrote in step ${(saw + 1 + told.before).toLocaleString("en")}.`));
      }
      said.push(element("p", {}, told.held === null ? "Locks taken before these steps are not known. " : "",
        holding.length ? `Held: ${holding.join("; ")}` : "No lock is held."));
      if (step === secondRacing) {
        const together = secondRacing === firstRacing + 1;
        said.push(element("p", { class: "meet" }, together
          ? "Both accesses stand next to each other: either could come first."
          : "This access and the one marked before it race: nothing orders them."));
      }
      now.replaceChildren(...said);
    }

    function steps() {
      const most = 9;
      const begin = Math.max(0, Math.min(step - 5, events.length - most));
      const names = [...new Set(events.slice(begin, begin + most).map(([thread]) => thread))].sort((a, b) => a - b).slice(0, 6);
      const head = element("tr", {}, element("th", {}, "step"), ...names.map((thread) => element("th", { title: threads[thread] }, threads[thread])));
      const body = events.slice(begin, begin + most).map(([thread, action, place], offset) => {
        const index = begin + offset;
        const racing = index === firstRacing || index === secondRacing;
        const kind = [index === step ? "here" : "", racing ? "racing" : "", index > step ? "later" : ""].join(" ");
        const source = sourceLine(places[place]);
        // Several events can stand on one line.
        const said = source
          ? [source.length > 30 ? `${source.slice(0, 29)}…` : source, element("i", {}, `  ${actions[action]}`)]
          : [`${actions[action]}  ${shortPlace(places[place])}`];
        const cells = names.map((name) => element("td", { title: `${source || ""}  ${shortPlace(places[place])}` }, ...(name === thread ? said : [""])));
        return element("tr", { class: kind.trim(), click: () => go(index) },
          element("td", {}, String(index + 1 + told.before)), ...cells);
      });
      table.replaceChildren(head, ...body);
    }

    keys = (event) => {
      const acts = {
        ArrowLeft: () => go(step - 1), ArrowRight: () => go(step + 1), Home: () => go(0), End: () => go(secondRacing),
        " ": () => play.click(), "+": () => zoom(0.5), "-": () => zoom(2),
      };
      if (!acts[event.key]) return false;
      acts[event.key]();
      return true;
    };
    redraw = () => go(step);
    const kind = told.reordered ? "An order that shows it, which has been checked"
      : rule === "predicted-race" ? "A schedule that shows it" : "How it was in this run";
    const before = told.before ? ` ${plural(told.before, "event")} before these ${told.before === 1 ? "is" : "are"} not shown.` : "";
    return [element("h3", {}, kind), element("p", { class: "legend" },
      `${plural(events.length, "event")} of ${plural(threads.length, "thread")}.${before} ← → step, space plays, + − zoom.`),
    player, element("div", { class: "timeline" }, canvas), now, table];
  }

  // ---- On paper: the finding in view in full, then the others that pass the filters, in daylight colours ----
  const PRINTED = 100;
  let theme = null;
  window.addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    setTheme("light");
    const others = shown.filter((_, index) => index !== selected).slice(0, PRINTED);
    const more = shown.length - 1 - others.length;
    byId("others").append(...others.map((item) => element("section", {}, ...head(item))),
      more > 0 ? element("p", {}, `${plural(more, "more finding")} not printed`) : "");
  });
  window.addEventListener("afterprint", () => {
    byId("others").replaceChildren();
    setTheme(theme);
  });

  // ---- Keys ----
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "checkbox";
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const acts = {
      j: () => select(selected + 1, true), ArrowDown: () => select(selected + 1, true),
      k: () => select(selected - 1, true), ArrowUp: () => select(selected - 1, true),
      "/": () => byId("search").focus(), t: switchTheme,
    };
    const onButton = event.target.tagName === "BUTTON" && event.key === " ";
    if (acts[event.key]) acts[event.key]();
    else if (onButton || !shown[selected] || !shown[selected].entry.story || !keys(event)) return;
    event.preventDefault();
  });

  const titles = data.chapters.map((chapter) => chapter.title).join(", ");
  document.title = `deadheat: ${titles}`;
  byId("summary").textContent = `${titles}: ${plural(entries.length, "finding")}`;
  filter();
  if (shown.length === 0) showDetail(undefined);
  else select(0, true);
})();
