import { useAddress, useMark } from "./address.js";
import { isBackground } from "./background.js";
import { html, useMemo, useState } from "./html.js";
import { List } from "./list.js";
import { before } from "./recording.js";
import { time, told, toldTogether, visible } from "./words.js";

/**
 * @typedef {import("./recording.js").Row} Row
 * @typedef {import("./recording.js").Recording} Recording
 * @typedef {Row & {together?: Row[]}} Shown a row, or the first of several changes of one cause that are told together
 */

const ROW = 22;
/** Who waits longer than this for an answer, beyond what it asked to wait, waits long. */
const SLOW_MS = 500;
const BAD = ["errors", "faults", "slow"];
/** @type {Record<string, {word: string, title: string}>} */
const CHIPS = {
  errors: { word: "errors", title: "only errors, and what was not answered" },
  faults: { word: "⚡ faults", title: "only what a fault touched" },
  slow: { word: "slow", title: `only what took ${SLOW_MS} ms longer than its client asked to wait` },
};
const KINDS = ["requests", "changes", "decisions"];

/**
 * The stream of requests, changes and decisions, up to the moment that is shown.
 * @param {{recording: Recording, number: number, goTo: (number: number) => void}} props
 */
export function Requests({ recording, number, goTo }) {
  const [wanted, setWanted] = useAddress("kinds", "requests,changes");
  const kinds = wanted.split(",");
  const [api, setApi] = useAddress("api");
  const [client, setClient] = useAddress("client");
  const [text, setText] = useAddress("with");
  const marks = Object.fromEntries(BAD.map((name) => [name, useMark(name)]));
  const [background, setBackground] = useMark("background");
  const [chosen, setChosen] = useState(/** @type {Shown | null} */ (null));
  // Who asks for an API by name wants all of it.
  const only = BAD.filter((name) => marks[name][0]);
  const filter = { kinds, api, client, text: text.toLowerCase(), only, background: background || api !== "" };
  const { shown, hidden } = useShown(recording, filter);
  const count = before(shown, number + 1);
  const apis = [...recording.apis].sort();
  const clients = [...recording.clients].sort();
  const toggle = (/** @type {string} */ kind) =>
    setWanted(KINDS.filter((each) => (each === kind) !== kinds.includes(each)).join(","));
  return html`<div class="requests">
    <div class="filters">
      ${KINDS.map(
        (kind) => html`<label><input type="checkbox" checked=${kinds.includes(kind)} onChange=${() => toggle(kind)} /> ${kind}</label>`,
      )}
      <label title="polls that find no records, and heartbeats"><input type="checkbox" checked=${filter.background} disabled=${api !== ""} onChange=${() => setBackground(!background)} /> background${hidden ? ` (${hidden} hidden)` : ""}</label>
      <label>API <select value=${api} onChange=${(/** @type {any} */ e) => setApi(e.currentTarget.value)}>
        <option value="">all</option>${withOne(apis, api).map((each) => html`<option value=${each}>${visible(each)}</option>`)}
      </select></label>
      <label>client <select value=${client} onChange=${(/** @type {any} */ e) => setClient(e.currentTarget.value)}>
        <option value="">all</option>${withOne(clients, client).map((each) => html`<option value=${each}>${visible(each)}</option>`)}
      </select></label>
      ${BAD.map((name) => {
        const [on, set] = marks[name];
        return html`<button type="button" class="chip ${name}" aria-pressed=${on} title=${CHIPS[name].title} onClick=${() => set(!on)}>${CHIPS[name].word}</button>`;
      })}
      <label>with <input type="search" placeholder="topic, group, …" value=${text} onInput=${(/** @type {any} */ e) => setText(e.currentTarget.value)} /></label>
    </div>
    ${!count && html`<p class="nothing">${recording.rows.length ? `Nothing up to this moment is as the filters say${hidden ? `; ${hidden} polls and heartbeats are hidden` : ""}.` : "No client has asked for anything yet."}</p>`}
    <${List} label="what happened" class="stream" count=${count} height=${ROW} follow=${!chosen}
      render=${(/** @type {number} */ index) => Line({ row: shown[index], number, chosen, choose: setChosen })} />
    ${chosen && html`<${Detail} row=${chosen} number=${number} goTo=${goTo} close=${() => setChosen(null)} />`}
  </div>`;
}

/** @param {string[]} names @param {string} one that is chosen, and may not have been seen */
function withOne(names, one) {
  return one === "" || names.includes(one) ? names : [...names, one];
}

/**
 * @typedef {{kinds: string[], api: string, client: string, text: string, only: string[], background: boolean}} Filter `only` is which of errors, faults and slow
 * @param {Row} row @param {Filter} filter
 */
export function fits(row, filter) {
  return (filter.background || !isBackground(row)) && fitsOtherwise(row, filter);
}

/** @param {Row} row @param {Filter} filter */
function fitsOtherwise(row, { kinds, api, client, text, only }) {
  const { event } = row;
  const kind = event.kind === "request" || event.kind === "answer" ? "requests" : event.kind === "decision" ? "decisions" : "changes";
  if (!kinds.includes(kind)) return false;
  if (api && event.api !== api) return false;
  if (client && event.client_id !== client) return false;
  if (only.length && !only.some((each) => IS[each](row))) return false;
  return !text || words(row).toLowerCase().includes(text);
}

/** @param {Row} row @returns {boolean} whether it ended with an error, or without an answer that was due */
function isBad({ event, answer }) {
  if (event.kind === "malformed" || event.errors?.length || answer?.errors?.length) return true;
  const outcome = (event.kind === "answer" ? event : answer)?.outcome ?? "answer";
  return outcome !== "answer" && outcome !== "none";
}

/** @param {Row} row @returns {boolean} */
function isSlow({ event, answer }) {
  return (answer?.took_ms ?? 0) - (event.body?.max_wait_ms ?? event.body?.max_wait ?? 0) >= SLOW_MS;
}

/** @type {Record<string, (row: Row) => boolean>} */
const IS = { errors: isBad, faults: ({ answer }) => answer?.faults?.length > 0, slow: isSlow };

/** @param {Row} row @returns {string} what it can be found by */
function words({ event, answer }) {
  const { errors = [], faults = [], outcome = "" } = answer ?? event;
  return [told(event), event.client_id ?? "", outcome, ...errors, ...faults].join(" ");
}

/**
 * What fits, and how much is hidden as background.
 * @param {Recording} recording @param {Filter} filter
 */
function useShown(recording, filter) {
  const key = JSON.stringify(filter);
  const state = useMemo(
    () => ({ seen: 0, answered: 0, shown: /** @type {Shown[]} */ ([]), hidden: /** @type {Set<Row>} */ (new Set()) }),
    [recording, key, recording.first],
  );
  const { rows, answered } = recording;
  const seen = rows[state.seen - 1]?.event.number ?? -1;
  // An answer may come later than its request was looked at.
  for (; state.answered < answered.length; state.answered++) {
    const row = answered[state.answered];
    const place = before(state.shown, row.event.number);
    if (row.event.number <= seen && state.shown[place] !== row && fits(row, filter)) {
      state.shown.splice(place, 0, row);
      state.hidden.delete(row);
    }
  }
  for (; state.seen < rows.length; state.seen++) {
    const row = rows[state.seen];
    if (fits(row, filter)) show(state.shown, row);
    else if (isBackground(row) && fitsOtherwise(row, filter)) state.hidden.add(row);
  }
  return { shown: state.shown, hidden: state.hidden.size };
}

/** @param {Shown[]} shown @param {Row} row is told with the one before if both have the same cause */
function show(shown, row) {
  const last = shown.at(-1);
  if (!last?.step || last.step !== row.step) shown.push(row);
  else if (last.together) last.together.push(row);
  else shown[shown.length - 1] = { ...last, together: [last, row] };
}

/** @param {Shown} row @param {number} number @returns {Row[]} those up to event `number` that are told together */
function together(row, number) {
  return row.together?.filter(({ event }) => event.number <= number) ?? [row];
}

/** @param {{row: Shown, number: number, chosen: Shown | null, choose: (row: Shown) => void}} props `number` is that of the last event to tell of */
function Line({ row, number, chosen, choose }) {
  const { event, answer } = row;
  const rows = together(row, number);
  const errors = answer?.errors ?? event.errors ?? [];
  const asked = event.kind === "request";
  const what = asked ? told(event).slice(event.api.length) : toldTogether(rows.map((each) => each.event));
  const chips = [
    ...errors.map((/** @type {string} */ each) => ["errors", each]),
    ...(asked && !answer ? [["waiting", "waiting"]] : []),
    ...(answer && !errors.length ? [answer.outcome === "answer" ? ["ok", "ok"] : ["errors", answer.outcome]] : []),
    ...(answer?.faults?.length ? [["faults", "⚡ fault"]] : []),
    ...(isSlow(row) ? [["slow", `slow: ${answer?.took_ms} ms`]] : []),
  ];
  return html`<div role="listitem" key=${event.number}>
    <button type="button" style=${{ height: `${ROW}px` }} class="line ${event.kind} ${isBad(row) ? "bad" : ""} ${event.number === chosen?.event.number ? "chosen" : ""}" onClick=${() => choose(row)}>
      <span class="time">${time(event.time_ms)}</span>
      <span class="who">${asked ? html`<span class="chip client">${visible(event.client_id ?? "–")}</span> → ${event.broker}` : rows.length > 1 ? `${rows.length} changes` : event.kind}</span>
      <span class="what">${rows.some((each) => each.back) ? "⤺ " : ""}${asked && html`<span class="chip api">${event.api}</span>`}${visible(what)}</span>
      <span class="result">${chips.map(([kind, word]) => html`<span class="chip ${kind}">${word}</span>`)}</span>
    </button>
  </div>`;
}

/** @param {{row: Shown, number: number, goTo: (number: number) => void, close: () => void}} props */
function Detail({ row, number, goTo, close }) {
  const { event, answer, decisions } = row;
  const rows = together(row, number);
  return html`<section class="detail" aria-label="detail">
    <div class="controls">
      <strong>${visible(toldTogether(rows.map((each) => each.event)))}</strong>
      <button type="button" onClick=${() => goTo(event.number)}>show this moment</button>
      <button type="button" onClick=${close} aria-label="close detail">✕</button>
    </div>
    ${answer?.faults?.length ? html`<p class="faults">⚡ ${answer.faults.join("; ")}</p>` : ""}
    ${decisions.length > 0 &&
    html`<h3>Decisions</h3>
      <ul class="decisions">
        ${decisions.map((each) => html`<li>${told(each)}</li>`)}
      </ul>`}
    ${rows.map(
      (each) => html`<h3>${each.event.kind}</h3>
        <${Tree} value=${each.event.body && Object.keys(each.event.body).length ? each.event.body : rest(each.event)} />`,
    )}
    ${answer &&
    html`<h3>answer ${answer.took_ms ? `after ${answer.took_ms} ms` : ""}</h3>
      ${answer.outcome === "answer" ? html`<${Tree} value=${answer.body} />` : html`<p>${answer.outcome}</p>`}`}
  </section>`;
}

/** @param {Record<string, any>} event */
function rest(event) {
  const { kind, body, ...values } = event;
  return values;
}

const OPEN = 3;
const MOST = 200;

/**
 * Fields that can be opened.
 * @param {{value: any, name?: string, depth?: number}} props
 * @returns {any}
 */
export function Tree({ value, name = "", depth = 0 }) {
  if (value === null || typeof value !== "object") {
    return html`<div class="field"><span class="name">${name}</span> <span class="value">${visible(JSON.stringify(value) ?? "")}</span></div>`;
  }
  const entries = Object.entries(value);
  const inner = entries.slice(0, MOST).map(([key, each]) => html`<${Tree} value=${each} name=${key} depth=${depth + 1} />`);
  const more = entries.length > MOST ? html`<p>and ${entries.length - MOST} more</p>` : "";
  if (depth === 0) return html`<div class="tree">${inner}${more}</div>`;
  if (!entries.length) return html`<div class="field"><span class="name">${name}</span> <span class="value">${Array.isArray(value) ? "[]" : "{}"}</span></div>`;
  return html`<details open=${depth < OPEN}><summary>${name} ${Array.isArray(value) ? `(${entries.length})` : ""}</summary>${inner}${more}</details>`;
}
