// The passage around a quote, as nodes. Offsets of the server count code points, those of JavaScript UTF-16 units.
import { el, t } from "./words.js";

const AROUND = 260;

// Positions in code points -> positions in UTF-16 units; `points` ascend.
export function units(text, points) {
  let unit = 0, point = 0;
  return points.map((wanted) => {
    while (point < wanted && unit < text.length) {
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
      point += 1;
    }
    return unit;
  });
}

// What is linked in the text, in UTF-16 units. Only web and mail addresses are followed.
function linksOf(text, annotations) {
  const links = annotations.filter((one) => one.kind === "link" && /^(https?|mailto):/i.test(one.url) && URL.canParse(one.url));
  const points = [...new Set(links.flatMap((one) => [one.start, one.end]))].sort((a, b) => a - b);
  const places = new Map(units(text, points).map((unit, index) => [points[index], unit]));
  return links.map((one) => {
    const start = places.get(one.start), end = places.get(one.end);
    return { start, end, url: one.url, host: host(text.slice(start, end), new URL(one.url)) };
  });
}

// Where a link leads to, if its words do not say so themselves.
function host(words, { href, protocol, hostname, pathname }) {
  const place = protocol === "mailto:" ? pathname : hostname;
  return [place, href, href.replace(/\/$/, "")].includes(words.trim().toLowerCase()) ? "" : place;
}

// Stored text is only ever set as text: these are text nodes, <mark> and <a> elements.
function runs(text, base, { from, to, links }, shown = (piece) => piece) {
  const first = Math.min(Math.max(from - base, 0), text.length), last = Math.min(Math.max(to - base, first), text.length);
  const here = links.map((one) => ({ ...one, start: Math.max(one.start - base, 0), end: Math.min(one.end - base, text.length) })).filter((one) => one.start < one.end);
  const cuts = [...new Set([0, first, last, text.length, ...here.flatMap((one) => [one.start, one.end])])].sort((a, b) => a - b);
  return cuts.slice(1).flatMap((end, index) => {
    const start = cuts[index], piece = shown(text.slice(start, end)), link = here.find((one) => one.start <= start && start < one.end);
    const node = start >= first && end <= last ? el("mark", {}, piece) : piece;
    if (!link) return [node];
    const made = el("a", { href: link.url, title: link.url, target: "_blank", rel: "noopener noreferrer nofollow" }, node);
    return link.host && end === link.end ? [made, el("span", { class: "host" }, ` (${link.host})`)] : [made];
  });
}

// A quote alone, where the text around it is not there.
export function quoted({ quote, start, annotations = [] }) {
  const links = linksOf(quote, annotations.map((one) => ({ ...one, start: one.start - start, end: one.end - start })));
  return runs(quote, 0, { from: 0, to: quote.length, links });
}

// [start, end) widened to whole words, at most AROUND units on either side of the mark.
function clip(text, base, { from, to }) {
  const mid = to > base && from < base + text.length;
  const low = mid ? Math.max(0, from - base - AROUND) : from >= base + text.length ? Math.max(0, text.length - AROUND) : 0;
  const high = mid ? Math.min(text.length, to - base + AROUND) : from >= base + text.length ? text.length : Math.min(text.length, AROUND);
  const start = low > 0 ? text.indexOf(" ", low) + 1 || low : 0;
  const end = high < text.length ? text.lastIndexOf(" ", high) : text.length;
  return [start, end > start ? end : high];
}

function paragraph(block, base, mark) {
  const [start, end] = clip(block.text, base, mark);
  const nodes = runs(block.text.slice(start, end), base + start, mark);
  return el(block.kind === "code" ? "pre" : "p", {}, start > 0 ? "… " : null, ...nodes, end < block.text.length ? " …" : null);
}

function* lines(text, base) {
  for (const line of text.split("\n")) { yield [line, base]; base += line.length + 1; }
}

function row(line, base, mark, cell) {
  const made = el("tr");
  for (const found of line.matchAll(/(?<=\|)((?:\\.|[^|\\])*)(?=\|)/g)) {
    const text = found[1], lead = text.length - text.trimStart().length;
    const unescaped = (piece) => piece.replaceAll("\\|", "|");
    made.append(el(cell, {}, ...runs(text.trim(), base + found.index + lead, mark, unescaped)));
  }
  return made;
}

// The header and the rows next to the quote.
function table(block, base, mark) {
  const { from, to } = mark;
  const [head, ...rest] = [...lines(block.text, base)].filter(([line]) => !/^\|(\s*:?-+:?\s*\|)+$/.test(line.trim()));
  const hit = rest.findIndex(([line, at]) => at + line.length > from && at < to);
  const near = rest.filter(([line, at], index) => Math.abs(index - Math.max(hit, 0)) <= 1 || (at + line.length > from && at < to));
  const body = el("tbody", {}, ...near.map(([line, at]) => row(line, at, mark, "td")));
  return el("div", { class: "table", role: "group", tabindex: 0, "aria-label": t("thread.table") },
    el("table", {}, el("thead", {}, row(...head, mark, "th")), body));
}

function list(block, base, mark) {
  const { from, to } = mark;
  const all = [...lines(block.text, base)];
  const hit = all.findIndex(([line, at]) => at + line.length > from && at < to);
  const near = all.filter(([line, at], index) => Math.abs(index - Math.max(hit, 0)) <= 1 || (at + line.length > from && at < to));
  return el("ul", {}, ...near.map(([line, at]) => {
    const lead = line.match(/^\s*(?:[-*•]\s+|(\(?\w{1,3}[.)])\s+)?/), body = runs(line.slice(lead[0].length), at + lead[0].length, mark);
    return lead[1] ? el("li", { class: "own" }, el("span", { class: "marker" }, lead[1]), el("span", {}, ...body)) : el("li", {}, ...body);
  }));
}

const plain = (text) => text.replace(/\s+/g, " ").trim();

// The blocks that hold the quote, and their neighbours when they are short. Null when the quote is not there.
export function passage(found, citation) {
  const [from, to] = units(found.text, [citation.start, citation.end]);
  if (plain(found.text.slice(from, to)) !== plain(citation.quote)) return null;
  const mark = { from, to, links: linksOf(found.text, found.annotations) };
  let at = 0;
  const placed = (found.blocks.length ? found.blocks : [{ kind: "text", text: found.text }]).map((block) => {
    const base = Math.max(found.text.indexOf(block.text, at), at);
    at = base + block.text.length;
    return { block, base, end: at };
  });
  const held = placed.map((one, index) => (one.end > from && one.base < to ? index : -1)).filter((index) => index >= 0);
  if (!held.length) return null;
  const size = held.reduce((sum, index) => sum + placed[index].block.text.length, 0);
  const prose = (index) => placed[index]?.block.kind === "text";
  const shown = [...held];
  if (size < 200 && prose(held[0] - 1)) shown.unshift(held[0] - 1);
  if (size < 200 && prose(held.at(-1) + 1)) shown.push(held.at(-1) + 1);
  const draw = { table, list };
  return shown.map((index) => (draw[placed[index].block.kind] ?? paragraph)(placed[index].block, placed[index].base, mark));
}
