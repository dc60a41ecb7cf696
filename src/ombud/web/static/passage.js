// The passage around a quote, as nodes. Offsets of the server count code points, those of JavaScript UTF-16 units.
import { el } from "./words.js";

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

// Stored text is only ever set as text: these are text nodes and <mark> elements.
function runs(text, base, from, to, shown = (piece) => piece) {
  const first = Math.min(Math.max(from - base, 0), text.length), last = Math.min(Math.max(to - base, first), text.length);
  const nodes = [];
  if (first > 0) nodes.push(shown(text.slice(0, first)));
  if (last > first) nodes.push(el("mark", {}, shown(text.slice(first, last))));
  if (last < text.length) nodes.push(shown(text.slice(last)));
  return nodes;
}

// [start, end) widened to whole words, at most AROUND units on either side of the mark.
function clip(text, base, from, to) {
  const mid = to > base && from < base + text.length;
  const low = mid ? Math.max(0, from - base - AROUND) : from >= base + text.length ? Math.max(0, text.length - AROUND) : 0;
  const high = mid ? Math.min(text.length, to - base + AROUND) : from >= base + text.length ? text.length : Math.min(text.length, AROUND);
  const start = low > 0 ? text.indexOf(" ", low) + 1 || low : 0;
  const end = high < text.length ? text.lastIndexOf(" ", high) : text.length;
  return [start, end > start ? end : high];
}

function paragraph(block, base, from, to) {
  const [start, end] = clip(block.text, base, from, to);
  const nodes = runs(block.text.slice(start, end), base + start, from, to);
  return el(block.kind === "code" ? "pre" : "p", {}, start > 0 ? "… " : null, ...nodes, end < block.text.length ? " …" : null);
}

function* lines(text, base) {
  for (const line of text.split("\n")) { yield [line, base]; base += line.length + 1; }
}

function row(line, base, from, to, cell) {
  const made = el("tr");
  for (const found of line.matchAll(/(?<=\|)((?:\\.|[^|\\])*)(?=\|)/g)) {
    const text = found[1], lead = text.length - text.trimStart().length;
    const unescaped = (piece) => piece.replaceAll("\\|", "|");
    made.append(el(cell, {}, ...runs(text.trim(), base + found.index + lead, from, to, unescaped)));
  }
  return made;
}

// The header and the rows next to the quote.
function table(block, base, from, to) {
  const [head, ...rest] = [...lines(block.text, base)].filter(([line]) => !/^\|(\s*:?-+:?\s*\|)+$/.test(line.trim()));
  const hit = rest.findIndex(([line, at]) => at + line.length > from && at < to);
  const near = rest.filter(([line, at], index) => Math.abs(index - Math.max(hit, 0)) <= 1 || (at + line.length > from && at < to));
  const body = el("tbody", {}, ...near.map(([line, at]) => row(line, at, from, to, "td")));
  return el("div", { class: "table", role: "group", tabindex: 0, "aria-label": "Table" },
    el("table", {}, el("thead", {}, row(...head, from, to, "th")), body));
}

function list(block, base, from, to) {
  const all = [...lines(block.text, base)];
  const hit = all.findIndex(([line, at]) => at + line.length > from && at < to);
  const near = all.filter(([line, at], index) => Math.abs(index - Math.max(hit, 0)) <= 1 || (at + line.length > from && at < to));
  return el("ul", {}, ...near.map(([line, at]) => {
    const lead = line.match(/^\s*(?:[-*•]\s+|(\(?\w{1,3}[.)])\s+)?/), body = runs(line.slice(lead[0].length), at + lead[0].length, from, to);
    return lead[1] ? el("li", { class: "own" }, el("span", { class: "marker" }, lead[1]), el("span", {}, ...body)) : el("li", {}, ...body);
  }));
}

const plain = (text) => text.replace(/\s+/g, " ").trim();

// The blocks that hold the quote, and their neighbours when they are short. Null when the quote is not there.
export function passage(found, citation) {
  const [from, to] = units(found.text, [citation.start, citation.end]);
  if (plain(found.text.slice(from, to)) !== plain(citation.quote)) return null;
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
  return shown.map((index) => (draw[placed[index].block.kind] ?? paragraph)(placed[index].block, placed[index].base, from, to));
}
