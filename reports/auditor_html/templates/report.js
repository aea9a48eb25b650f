"use strict";
// The page's only script: sorts tables, unpacks the trials, lists them, and shows a page for each.
// Text from data reaches the document as text nodes only, never as markup.
(() => {
  const PAGE_ROWS = 50;
  const FIELDS = ["key", "system", "variant", "question", "form", "repeat", "stratum", "state", "detail", "score", "flags",
    "stance", "verdict", "chunks", "citations", "answer", "scrubbed", "evidence", "attempt", "file", "rest"];
  const F = Object.fromEntries(FIELDS.map((name, place) => [name, place]));
  const LOOK = { correct: "good", incorrect: "bad", canary_attempt: "bad", denied: "bad", partial: "bad", abstained: "calm" };
  const byId = (id) => document.getElementById(id);
  const words = (name) => String(name ?? "").replaceAll("_", " ");
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  function make(tag, options = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) {
      if (name === "class") element.className = value;
      else if (name in element && name !== "list") element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  // Tables of the report: a button in each header sorts by its column. Missing values stay last either way.
  function order(first, second, down) {
    const empty = (value) => value === "" || value === null || value === undefined;
    if (empty(first) || empty(second)) return empty(first) - empty(second);
    const found = typeof first === "number" && typeof second === "number" ? first - second
      : collator.compare(String(first), String(second));
    return down ? -found : found;
  }

  function cellValue(row, place) {
    const cell = row.cells[place];
    if (!cell) return "";
    if (cell.dataset.sort) return Number(cell.dataset.sort);
    return cell.querySelector(".missing") ? "" : cell.textContent.trim();
  }

  function sortButton(header, act) {
    const button = make("button", { type: "button" });
    button.append(...header.childNodes);
    button.addEventListener("click", act);
    header.append(button);
  }

  function markSorted(headers, place, down) {
    headers.forEach((header, other) => {
      if (other === place) header.setAttribute("aria-sort", down ? "descending" : "ascending");
      else header.removeAttribute("aria-sort");
    });
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    const headers = [...table.tHead.rows[0].cells];
    headers.forEach((header, place) => sortButton(header, () => {
      const down = header.getAttribute("aria-sort") === "ascending";
      const rows = [...table.tBodies[0].rows].map((row) => [cellValue(row, place), row]);
      rows.sort((a, b) => order(a[0], b[0], down));
      table.tBodies[0].append(...rows.map((entry) => entry[1]));
      markSorted(headers, place, down);
    }));
  }

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("header details:not([open]), main details:not([open])")];
    opened.forEach((details) => { details.open = true; });
  });
  window.addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));
  if (window.matchMedia("(max-width: 1079px)").matches) document.querySelector(".contents").open = false;

  // The data.
  async function unpack(id) {
    const element = byId(id);
    const packed = element.textContent;
    const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(packed)
      : Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    element.remove();
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  let data = null;
  let texts = null;
  let beside = null;  // whether the folder with long texts is there; null: not known yet, or not needed
  const view = { rows: [], page: 0, sort: null, down: false, text: "", system: "", stratum: "", state: "" };

  const textOf = (number) => {
    if (number === null || number === undefined || texts === null) return null;
    const found = texts.texts[number];
    return typeof found === "string" ? { text: found, over: 0 } : { text: found[0], over: found[1] };
  };
  const questionOf = (row) => data.questions[row[F.question]] ?? { forms: {}, proofs: {} };
  const wording = (row) => textOf(questionOf(row).forms[row[F.form]] ?? Object.values(questionOf(row).forms)[0])?.text ?? null;
  const systemName = (row) => data.systems[row[F.system]] ?? `system ${row[F.system]}`;
  const questionName = (row) => questionOf(row).id || `question ${row[F.question]}`;
  const labelOf = (number) => (number === null || number === undefined ? null : data.labels[number]);
  const kindOf = (row) => {
    const kind = questionOf(row).kind;
    const stratum = words(row[F.stratum]);
    return kind && words(kind) !== stratum ? `${stratum}: ${words(kind)}` : stratum;
  };
  const scoreOf = (row) => (row[F.score] === null ? "" : Number(row[F.score]));
  const scoreText = (row) => (row[F.score] === null ? "none" : String(row[F.score]).replace("-", "\u2212"));

  function votesText(row) {
    const label = labelOf(row[F.verdict]);
    if (!label) return "";
    const counts = new Map();
    for (const [, vote, missing] of label[2]) {
      const said = vote ?? missing ?? "none";
      counts.set(said, (counts.get(said) ?? 0) + 1);
    }
    return [...counts].map(([said, count]) => `${count} ${said}`).join(", ");
  }

  const answerText = (row) => textOf(row[F.answer])?.text ?? "";

  const COLUMNS = [
    { title: "Trial", value: (row) => row[F.key] },
    { title: "System", value: systemName },
    { title: "Question", value: (row) => wording(row) ?? questionName(row) },
    { title: "Answer", value: answerText, texts: true },
    { title: "State", value: (row) => words(row[F.state]) },
    { title: "Score", value: scoreOf, number: true },
    { title: "Votes", value: votesText },
    { title: "Kind", value: kindOf },
    { title: "Repeat", value: (row) => (row[F.repeat] === null ? "" : row[F.repeat] + 1), number: true },
  ];
  const shownColumns = () => COLUMNS.filter((column) => !(column.texts && data.public));

  const shortKey = (row) => String(row[F.key]).replace(/^ask\//, "");
  const route = (row) => `#trial=${encodeURIComponent(row[F.key])}`;

  function matches(row) {
    if (view.system !== "" && String(row[F.system]) !== view.system) return false;
    if (view.stratum !== "" && kindOf(row) !== view.stratum) return false;
    if (view.state !== "" && row[F.state] !== view.state) return false;
    if (view.text === "") return true;
    const question = questionOf(row);
    const places = [row[F.key], questionName(row), systemName(row), row[F.detail], ...(row[F.flags] ?? []),
      wording(row), answerText(row), ...(question.tags ?? [])];
    return places.some((place) => place && String(place).toLowerCase().includes(view.text));
  }

  function refilter() {
    view.rows = data.trials.filter(matches);
    if (view.sort !== null) {
      const keyed = view.rows.map((row) => [view.sort.value(row), row]);
      keyed.sort((a, b) => order(a[0], b[0], view.down));
      view.rows = keyed.map((entry) => entry[1]);
    }
    view.page = 0;
    showRows();
  }

  function stateMark(row) {
    return make("span", { class: `state ${LOOK[row[F.state]] ?? "none"}` }, words(row[F.state]) || "unknown");
  }

  function rowCells(row) {
    const answer = make("td", {}, make("div", { class: "excerpt", dir: "auto" }, answerText(row).slice(0, 240)));
    return [
      make("th", { scope: "row" }, make("a", { href: route(row) }, shortKey(row))),
      make("td", {}, make("bdi", {}, systemName(row))),
      make("td", {}, make("div", { class: "excerpt", dir: "auto" }, (wording(row) ?? questionName(row)).slice(0, 200))),
      data.public ? null : answer,
      make("td", {}, stateMark(row)),
      make("td", { class: "number" }, scoreText(row)),
      make("td", {}, votesText(row)),
      make("td", {}, kindOf(row)),
      make("td", { class: "number" }, row[F.repeat] === null ? "" : String(row[F.repeat] + 1)),
    ].filter(Boolean);
  }

  function showRows() {
    const last = Math.max(0, Math.ceil(view.rows.length / PAGE_ROWS) - 1);
    view.page = Math.min(Math.max(0, view.page), last);
    const start = view.page * PAGE_ROWS;
    const rows = view.rows.slice(start, start + PAGE_ROWS);
    byId("trial-table").tBodies[0].replaceChildren(...rows.map((row) => make("tr", {}, ...rowCells(row))));
    const count = view.rows.length.toLocaleString("en");
    byId("trial-count").textContent = `${count} of ${data.trials.length.toLocaleString("en")} trials`
      + (view.text && texts === null ? " (texts are still being unpacked)" : "");
    byId("page-place").textContent = `Page ${view.page + 1} of ${last + 1}`;
    byId("page-back").disabled = view.page === 0;
    byId("page-next").disabled = view.page === last;
  }

  function options(select, title, entries) {
    select.append(make("option", { value: "" }, title), ...entries.map(([value, text]) => make("option", { value }, text)));
  }

  function buildList() {
    const head = make("tr");
    const headers = shownColumns().map((column) => {
      const header = make("th", { scope: "col", class: column.number ? "number" : "" }, column.title);
      sortButton(header, () => {
        view.down = view.sort === column && !view.down;
        view.sort = column;
        markSorted(headers, headers.indexOf(header), view.down);
        refilter();
      });
      return header;
    });
    head.append(...headers);
    byId("trial-table").tHead.append(head);
    const distinct = (value) => [...new Set(data.trials.map(value))].sort(collator.compare);
    options(byId("filter-system"), "all", data.systems.map((name, number) => [String(number), name]));
    options(byId("filter-stratum"), "all", distinct(kindOf).map((name) => [name, name]));
    options(byId("filter-state"), "all", distinct((row) => row[F.state] ?? "").map((name) => [name, words(name)]));
    for (const name of ["system", "stratum", "state"]) {
      byId(`filter-${name}`).addEventListener("change", (event) => { view[name] = event.target.value; refilter(); });
    }
    let waiting = 0;
    byId("filter-text").addEventListener("input", (event) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { view.text = event.target.value.trim().toLowerCase(); refilter(); }, 120);
    });
    const form = document.querySelector(".filters");
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => {
      Object.assign(view, { text: "", system: "", stratum: "", state: "" });
      refilter();
    });
    byId("page-back").addEventListener("click", () => { view.page -= 1; showRows(); });
    byId("page-next").addEventListener("click", () => { view.page += 1; showRows(); });
    byId("trial-list").hidden = false;
    refilter();
  }

  // The page of one trial.
  const heading = (text) => make("h2", {}, text);
  const block = (text, kind = "text") => make("div", { class: kind, dir: "auto", tabIndex: 0 }, text);
  const missing = (text) => make("p", { class: "missing" }, text);
  const pairs = (entries) => make("dl", { class: "pairs" }, ...entries
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => make("div", {}, make("dt", {}, name),
      make("dd", {}, value instanceof Node ? value : make("bdi", {}, String(value))))));

  function besideLink(row, what) {
    if (!row[F.file]) return null;
    if (beside === false) {
      return missing(`${what} stands in the folder report_files, which is not beside this file, or belongs to another report.`);
    }
    return make("p", {}, make("a", { href: `report_files/${row[F.file]}` }, `${what} in full`), " (in the folder report_files)");
  }

  function fullText(row, number, what) {
    const found = textOf(number);
    const parts = [block(found.text)];
    if (found.over) {
      parts.push(missing(`… and ${found.over.toLocaleString("en")} characters more.`), besideLink(row, what));
    }
    return parts;
  }

  function answerParts(row) {
    if (data.public) return [missing("Texts are kept out of this public report.")];
    if (row[F.answer] === null) return [missing(`No text: the trial ended as ${words(row[F.state]) || "unknown"}, or its text was withheld.`)];
    const same = row[F.scrubbed] === null || row[F.scrubbed] === row[F.answer];
    return [
      heading(same ? "Answer" : "Answer as it came"),
      ...fullText(row, row[F.answer], "The answer"),
      ...(same ? [make("p", { class: "about" }, "Judges saw it as it came: nothing had to be scrubbed.")]
        : [heading("Answer as judges saw it"), ...fullText(row, row[F.scrubbed], "The scrubbed answer")]),
    ];
  }

  function questionParts(row) {
    const question = questionOf(row);
    const text = wording(row);
    const parts = [heading("Question"), text === null ? missing(data.public ? "Kept out of this public report." : "Withheld.")
      : block(text, "text question")];
    if (!data.public) {
      const references = (question.references ?? []).map((number) => textOf(number)?.text);
      const aliases = (question.aliases ?? []).map((number) => textOf(number)?.text);
      parts.push(heading("Reference"), ...(references.length ? references.map((found) => block(found)) : [missing("none")]));
      if (aliases.length) parts.push(pairs([["Also right", aliases.join("\n")]]));
    }
    return parts;
  }

  function proofParts(row) {
    const proof = questionOf(row).proofs?.[row[F.variant]] ?? Object.values(questionOf(row).proofs ?? {})[0];
    if (!proof) return [];
    const steps = proof.steps.map((lines) => make("li", {}, make("div", { class: "text", dir: "auto" }, lines.join("\n"))));
    const ended = proof.grade === "claimed" ? "Claimed only: nobody proved that the answer is absent." : null;
    return [
      heading("Proof that the documents do not hold the answer"),
      ended ? missing(ended) : null,
      pairs([["Grade", words(proof.grade)], ["Date", proof.date], ["Prover", proof.prover], ["Documents", proof.corpus]]),
      steps.length ? make("ol", {}, ...steps) : null,
    ];
  }

  function passage([kind, name, text, over, score]) {
    const about = make("p", { class: "about" }, `${kind} \u00b7 `, make("bdi", {}, name ?? "document not reported"),
      score === null ? "" : ` \u00b7 score ${score}`);
    const shown = text === null ? missing("text not reported") : text === "" && over ? null : block(text);
    return make("li", {}, about, shown, over ? missing(`… ${over.toLocaleString("en")} characters more`) : null);
  }

  function evidenceParts(row) {
    const reported = (count, what) => (count === null ? `${what}: not reported` : `${what}: ${count}`);
    const parts = [heading("Evidence"), make("p", {}, `${reported(row[F.chunks], "Retrieved passages")}; ${reported(row[F.citations], "citations")}.`)];
    const found = row[F.evidence] === null ? null : texts.evidence[row[F.evidence]];
    if (data.public) return parts;
    if (found === null) {
      if (row[F.chunks] || row[F.citations]) parts.push(missing("The texts were withheld."));
      return parts;
    }
    parts.push(make("ol", {}, ...found.passages.map(passage)));
    if (found.unlisted) parts.push(missing(`… and ${found.unlisted} more passages.`));
    if (found.left || found.unlisted) parts.push(besideLink(row, "The evidence"));
    return parts;
  }

  function votesTable(title, label) {
    const seat = (name) => data.seats.find((one) => one.name === name && one.kind === title.toLowerCase());
    const said = (vote, none) => vote ?? (none ? `no vote: ${none}` : "none");
    const rows = label[2].map(([name, vote, none, first, firstNone]) => make("tr", {},
      make("th", { scope: "row" }, make("bdi", {}, name)),
      make("td", {}, make("bdi", {}, seat(name)?.family ?? "")),
      make("td", {}, said(vote, none)),
      make("td", {}, said(first, firstNone))));
    const head = ["Labeller", "Family", "Vote", "Before repair"].map((text) => make("th", { scope: "col" }, text));
    return [
      make("h3", {}, `${title}: `, label[1] ?? "not decided"),
      rows.length ? make("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": `Votes: ${title}` }, make("table", {},
        make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows))) : missing("The votes are not in this report."),
    ];
  }

  function ledgerKeys(row) {
    const call = row[F.attempt] === null ? row[F.key] : `${row[F.key]}#${row[F.attempt]}`;
    const keys = row[F.attempt] === null ? [`outcome ${call}#…`]
      : [`intent ${call}`, `outcome ${call}`, `candidate ${call}`, `text ${call}/answer`, `text ${call}/evidence`];
    for (const kind of ["stance", "verdict"]) {
      const label = labelOf(row[F[kind]]);
      const seats = data.seats.filter((seat) => seat.kind === kind);
      if (label) keys.push(...seats.map((seat) => `outcome label/${kind}/${seat.ordinal}/${label[0]}/…`));
    }
    return keys;
  }

  function neighbour(row, step) {
    const place = view.rows.indexOf(row);
    const other = place < 0 ? undefined : view.rows[place + step];
    const button = make("button", { type: "button", disabled: other === undefined }, step < 0 ? "Previous trial" : "Next trial");
    button.addEventListener("click", () => { location.hash = route(other); });
    return button;
  }

  function trialPage(row) {
    const question = questionOf(row);
    const labels = ["stance", "verdict"].map((kind) => [kind, labelOf(row[F[kind]])]).filter(([, label]) => label);
    const title = make("h1", { tabIndex: -1, id: "trial-title" }, `Trial ${shortKey(row)} `, stateMark(row));
    const rest = Object.entries(row[F.rest] ?? {}).map(([name, value]) => [words(name), value === null ? "unknown" : String(value)]);
    return [
      make("nav", { class: "way", "aria-label": "Trials" }, make("a", { href: "#trials" }, "\u2190 All trials"),
        make("span", {}, neighbour(row, -1), neighbour(row, 1))),
      title,
      pairs([
        ["System", systemName(row)], ["Score", row[F.score] === null ? "none: not scored" : scoreText(row)],
        ["Question", questionName(row)], ["Kind", kindOf(row)], ["Source of the question", question.source],
        ["Documents that hold the answer", (question.gold ?? []).join("\n")], ["Tags", (question.tags ?? []).join(", ")],
        ["Wording", Object.keys(question.forms).length > 1 ? row[F.form] : null],
        ["Variant of the documents", row[F.variant] === "base" ? null : row[F.variant]],
        ["Repeat", row[F.repeat] === null ? null : row[F.repeat] + 1], ["Why", row[F.detail]],
        ["Flags", (row[F.flags] ?? []).join(", ")], ...rest,
      ]),
      ...questionParts(row),
      ...proofParts(row),
      ...answerParts(row),
      ...evidenceParts(row),
      heading("Votes"),
      ...(labels.length ? labels.flatMap(([kind, label]) => votesTable(kind === "stance" ? "Stance" : "Verdict", label))
        : [missing("Nothing was labelled.")]),
      heading("Ledger entries"),
      make("p", { class: "about" }, "Kind and key of the entries that this trial rests on; … stands for the number of an attempt or a repair."),
      make("ul", {}, ...ledgerKeys(row).map((key) => make("li", {}, make("code", {}, key)))),
    ].filter(Boolean);
  }

  let lastLink = null;

  function showReport() {
    const was = !byId("trial").hidden;
    byId("trial").hidden = true;
    byId("report").hidden = false;
    document.title = document.title.replace(/^Trial .*? \u00b7 /, "");
    if (!was) return;
    const link = lastLink === null ? null : [...document.querySelectorAll("#trial-table a")].find((one) => one.hash === lastLink);
    const target = location.hash.length > 1 ? byId(decodeURIComponent(location.hash.slice(1))) : null;
    (link ?? target ?? byId("main")).scrollIntoView({ block: link ? "center" : "start" });
    link?.focus({ preventScroll: true });
  }

  function showTrial(key) {
    if (data === null || texts === null) return;
    const row = data.trials.find((one) => one[F.key] === key);
    lastLink = location.hash;
    byId("trial").replaceChildren(...(row ? trialPage(row)
      : [make("p", {}, make("a", { href: "#trials" }, "\u2190 All trials")), make("h1", { tabIndex: -1, id: "trial-title" }, "There is no such trial in this report")]));
    byId("report").hidden = true;
    byId("trial").hidden = false;
    document.title = `Trial ${key} \u00b7 ${document.title.replace(/^Trial .*? \u00b7 /, "")}`;
    window.scrollTo(0, 0);
    byId("trial-title").focus({ preventScroll: true });
  }

  function follow() {
    const match = /^#trial=(.*)$/.exec(location.hash);
    let key = null;
    try { key = match && decodeURIComponent(match[1]); } catch { key = match[1]; }
    if (key === null) showReport();
    else showTrial(key);
  }

  function probe() {
    const picture = byId("data-beside").textContent;
    if (!picture) return;
    const image = new Image();
    image.onload = () => { beside = true; };
    image.onerror = () => { beside = false; follow(); };
    image.src = picture;
  }

  async function start() {
    try {
      if (typeof DecompressionStream === "undefined") throw new Error("this browser has no DecompressionStream; a newer one has");
      data = await unpack("data-index");
      buildList();
      texts = await unpack("data-texts");
      showRows();
      probe();
      follow();
      document.documentElement.dataset.ready = "true";
    } catch (error) {
      byId("trial-failed").textContent = `The trials cannot be unpacked here: ${error.message}. Everything else on this page stands.`;
      byId("trial-failed").hidden = false;
    }
  }

  window.addEventListener("hashchange", follow);
  start();
})();
