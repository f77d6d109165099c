import { useAddress, useMark } from "./address.js";
import { isBackground } from "./background.js";
import { html, useMemo, useState } from "./html.js";
import { List } from "./list.js";
import { before } from "./recording.js";
import { time, told, visible } from "./words.js";

/**
 * @typedef {import("./recording.js").Row} Row
 * @typedef {import("./recording.js").Recording} Recording
 */

const ROW = 22;
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
  const [errors, setErrors] = useMark("errors");
  const [background, setBackground] = useMark("background");
  const [chosen, setChosen] = useState(/** @type {Row | null} */ (null));
  // Who asks for an API by name wants all of it.
  const filter = { kinds, api, client, text: text.toLowerCase(), errors, background: background || api !== "" };
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
      <label><input type="checkbox" checked=${errors} onChange=${() => setErrors(!errors)} /> errors only</label>
      <label title="polls that find no records, and heartbeats"><input type="checkbox" checked=${filter.background} disabled=${api !== ""} onChange=${() => setBackground(!background)} /> background${hidden ? ` (${hidden} hidden)` : ""}</label>
      <label>API <select value=${api} onChange=${(/** @type {any} */ e) => setApi(e.currentTarget.value)}>
        <option value="">all</option>${withOne(apis, api).map((each) => html`<option value=${each}>${visible(each)}</option>`)}
      </select></label>
      <label>client <select value=${client} onChange=${(/** @type {any} */ e) => setClient(e.currentTarget.value)}>
        <option value="">all</option>${withOne(clients, client).map((each) => html`<option value=${each}>${visible(each)}</option>`)}
      </select></label>
      <label>with <input type="search" placeholder="topic, group, …" value=${text} onInput=${(/** @type {any} */ e) => setText(e.currentTarget.value)} /></label>
    </div>
    ${!count && html`<p class="nothing">${recording.rows.length ? `Nothing up to this moment is as the filters say${hidden ? `; ${hidden} polls and heartbeats are hidden` : ""}.` : "No client has asked for anything yet."}</p>`}
    <${List} label="what happened" class="stream" count=${count} height=${ROW} follow=${!chosen}
      render=${(/** @type {number} */ index) => Line({ row: shown[index], chosen, choose: setChosen })} />
    ${chosen && html`<${Detail} row=${chosen} goTo=${goTo} close=${() => setChosen(null)} />`}
  </div>`;
}

/** @param {string[]} names @param {string} one that is chosen, and may not have been seen */
function withOne(names, one) {
  return one === "" || names.includes(one) ? names : [...names, one];
}

/**
 * @typedef {{kinds: string[], api: string, client: string, text: string, errors: boolean, background: boolean}} Filter
 * @param {Row} row @param {Filter} filter
 */
export function fits(row, filter) {
  return (filter.background || !isBackground(row)) && fitsOtherwise(row, filter);
}

/** @param {Row} row @param {Filter} filter */
function fitsOtherwise(row, { kinds, api, client, text, errors }) {
  const { event } = row;
  const kind = event.kind === "request" || event.kind === "answer" ? "requests" : event.kind === "decision" ? "decisions" : "changes";
  if (!kinds.includes(kind)) return false;
  if (api && event.api !== api) return false;
  if (client && event.client_id !== client) return false;
  if (errors && !isBad(row)) return false;
  return !text || words(row).toLowerCase().includes(text);
}

/** @param {Row} row @returns {boolean} whether it ended with an error, or without an answer that was due */
function isBad({ event, answer }) {
  if (event.kind === "malformed" || event.errors?.length || answer?.errors?.length) return true;
  const outcome = (event.kind === "answer" ? event : answer)?.outcome ?? "answer";
  return outcome !== "answer" && outcome !== "none";
}

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
    () => ({ seen: 0, answered: 0, shown: /** @type {Row[]} */ ([]), hidden: /** @type {Set<Row>} */ (new Set()) }),
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
    if (fits(row, filter)) state.shown.push(row);
    else if (isBackground(row) && fitsOtherwise(row, filter)) state.hidden.add(row);
  }
  return { shown: state.shown, hidden: state.hidden.size };
}

/** @param {{row: Row, chosen: Row | null, choose: (row: Row) => void}} props */
function Line({ row, chosen, choose }) {
  const { event, answer, back } = row;
  const errors = answer?.errors ?? event.errors ?? [];
  const result = event.kind !== "request" ? "" : !answer ? "waiting" : errors.join(" ") || (answer.outcome === "answer" ? "ok" : answer.outcome);
  const marks = (back ? "⤺ " : "") + (answer?.faults?.length ? "⚡ " : "");
  return html`<div role="listitem" key=${event.number}>
    <button type="button" style=${{ height: `${ROW}px` }} class="line ${event.kind} ${isBad(row) ? "bad" : ""} ${row === chosen ? "chosen" : ""}" onClick=${() => choose(row)}>
      <span class="time">${time(event.time_ms)}</span>
      <span class="who">${event.kind === "request" ? visible(`${event.client_id ?? "–"} → ${event.broker}`) : event.kind}</span>
      <span class="what">${marks}${visible(told(event))}</span>
      <span class="result">${result}</span>
    </button>
  </div>`;
}

/** @param {{row: Row, goTo: (number: number) => void, close: () => void}} props */
function Detail({ row, goTo, close }) {
  const { event, answer, decisions } = row;
  return html`<section class="detail" aria-label="detail">
    <div class="controls">
      <strong>${visible(told(event))}</strong>
      <button type="button" onClick=${() => goTo(event.number)}>show this moment</button>
      <button type="button" onClick=${close} aria-label="close detail">✕</button>
    </div>
    ${answer?.faults?.length ? html`<p class="faults">⚡ ${answer.faults.join("; ")}</p>` : ""}
    ${decisions.length > 0 &&
    html`<h3>Decisions</h3>
      <ul class="decisions">
        ${decisions.map((each) => html`<li>${told(each)}</li>`)}
      </ul>`}
    <h3>${event.kind}</h3>
    <${Tree} value=${event.body && Object.keys(event.body).length ? event.body : rest(event)} />
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
