// One question with every knob: its complexity, its passages, its answer as it grows.
import { events, post } from "./stream.js";
import { ROOT, badge, t } from "./words.js";

const $ = (id) => document.getElementById(id);
const policy = globalThis.trustedTypes?.createPolicy("ombud", { createHTML: (html) => html }) ?? { createHTML: (html) => html };
const written = (node, html) => { node.innerHTML = policy.createHTML(html); };
const steps = { wait: t("thread.waiting"), search: t("thread.searching"), compose: t("thread.writing"), verify: t("thread.checking") };
let asking = null;

function plan() {
  const chosen = {};
  for (const field of document.querySelectorAll("[data-plan]")) {
    const { value } = field;
    if (value === "") continue;
    const isNumber = field.type === "number" || "number" in field.dataset;
    chosen[field.dataset.plan] = "list" in field.dataset ? [value] : isNumber ? Number(value) : value;
  }
  return chosen;
}

function person() {
  const role = $("role")?.value;
  return { country: $("country").value || null, roles: role ? [role] : [] };
}

function labelled({ label, classes, probabilities, parameters }) {
  const needs = [t("playground.needs_one"), ...(classes === 2 ? [t("playground.needs_two_or_more")] : [t("playground.needs_two"), t("playground.needs_three_or_more")])];
  const sure = Math.round(100 * probabilities[label]);
  const { k, rewrites, graph_keywords: keywords, graph_depth: depth } = parameters;
  return t("playground.routed", { needs: needs[label], sure, k, rewrites, keywords, depth });
}

function node(hit, rank, totals) {
  const one = document.createElement("article");
  one.className = "card passage";
  const head = document.createElement("p"), text = document.createElement("pre"), link = document.createElement("a");
  const total = totals[hit.document_id];
  const page = hit.page_from ? `, ${total ? t("playground.page_of", { number: hit.page_from, total }) : t("playground.page", { number: hit.page_from })}` : "";
  link.href = `${ROOT}/admin/documents/${hit.document_id}`;
  link.textContent = hit.title;
  head.append(`${rank}. `, link, `${page} · ${t("playground.node", { uri: hit.uri, score: hit.score.toFixed(4), id: hit.chunk_id, found: hit.found_by.join(", ") })}`);
  text.textContent = hit.text;
  one.append(head, text);
  return one;
}

async function ask(question) {
  asking?.abort();
  const begun = performance.now();
  document.querySelector("details").open = false;
  const { signal } = (asking = new AbortController());
  const body = { question, person: person(), plan: plan() };
  for (const id of ["routed", "answer", "nodes", "trace", "trouble"]) $(id).hidden = true;
  $("stop").hidden = false;
  $("stage").textContent = t("playground.routing");
  try {
    const routed = await (await post("/playground/route", { question, plan: body.plan }, signal)).json();
    $("routed").hidden = false;
    $("routed").querySelector("p").textContent = labelled(routed);
    $("stage").textContent = t("thread.searching");
    const found = await (await post("/api/v1/search", { query: question, person: body.person, plan: body.plan }, signal)).json();
    const versions = found.hits.map(({ document_id, digest, parser }) => [document_id, parser ? `${digest}.${parser}` : digest]);
    const totals = await (await post("/playground/pages", { versions }, signal)).json();
    $("nodes").hidden = false;
    $("nodes").querySelector("div").replaceChildren(...found.hits.map((hit, index) => node(hit, index + 1, totals)));
    const place = $("answer").querySelector(".body"), claims = [];
    for await (const [name, data] of events("/chat/ask", body, signal)) {
      if (name === "status") $("stage").textContent = steps[data.step] ?? "";
      else if (name === "claim") { claims[data.index] = data.html; $("answer").hidden = false; written(place, claims.filter(Boolean).join("")); }
      else if (name === "error") throw new Error(data.detail);
      else if (name === "answer") {
        $("answer").hidden = false;
        written(place, data.html);
        $("trace").hidden = false;
        $("trace").querySelector("pre").textContent = JSON.stringify(data.trace, null, 1);
        $("stage").textContent = t("playground.done", { kind: badge(data)[1], milliseconds: Math.round(performance.now() - begun) });
      }
    }
  } catch (error) {
    if (error.name === "AbortError") $("stage").textContent = t("thread.stopped");
    else { $("trouble").hidden = false; $("trouble").querySelector("p").textContent = `${error.message} ${error.hint ?? ""}`; $("stage").textContent = ""; }
  } finally {
    if (asking?.signal === signal) $("stop").hidden = true;
  }
}

// What stands in ombud.toml for the same everywhere.
function config() {
  const line = ([name, value]) => `${name} = ${JSON.stringify(value)}`;
  return ["[plan]", ...Object.entries(plan()).map(line)].join("\n");
}

$("try").addEventListener("submit", (event) => { event.preventDefault(); ask($("question").value.trim()); });
$("stop").addEventListener("click", () => asking?.abort());
$("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText(config());
  $("stage").textContent = t("thread.copied");
});
for (const button of document.querySelectorAll("[data-ask]")) {
  button.addEventListener("click", () => { $("question").value = button.dataset.ask; ask(button.dataset.ask); });
  post("/playground/route", { question: button.dataset.ask }).then(async (reply) => {
    const said = document.createElement("span");
    said.className = "mute";
    said.textContent = labelled(await reply.json());
    button.closest("tr").lastElementChild.append(said);
  }).catch(() => {});
}
