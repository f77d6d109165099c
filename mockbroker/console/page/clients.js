import { html } from "./html.js";
import { before } from "./recording.js";
import { Table } from "./tables.js";
import { time, visible } from "./words.js";

/**
 * @typedef {import("./recording.js").Recording} Recording
 * @typedef {{id: string, client: string, requests: number, apis: Map<string, number>, errors: Map<string, number>, faults: number,
 *   unanswered: number, lastMs: number}} Client
 *   `errors` has how many answers had each; `faults` is how many requests a fault touched
 */

/** Of how many APIs, and of how many errors, the numbers are told. */
const TOLD = 4;

/** @param {Recording} recording @param {number} number @returns {Client[]} what each has asked for up to an event, the busiest first */
export function clientsAt(recording, number) {
  /** @type {Map<string, Client>} */
  const found = new Map();
  const rows = recording.rows;
  for (let index = before(rows, number + 1) - 1; index >= 0; index--) {
    const { event, answer } = rows[index];
    if (event.kind !== "request") continue;
    const client = event.client_id || "(no client id)";
    let one = found.get(client);
    if (!one) found.set(client, (one = { id: event.client_id ?? "", client, requests: 0, apis: new Map(), errors: new Map(), faults: 0, unanswered: 0, lastMs: event.time_ms }));
    one.requests += 1;
    more(one.apis, event.api);
    if (!answer || answer.number > number) continue;
    for (const error of answer.errors ?? []) more(one.errors, error);
    if (answer.faults?.length) one.faults += 1;
    if (answer.outcome !== "answer" && answer.outcome !== "none") one.unanswered += 1;
  }
  return [...found.values()].sort((a, b) => b.requests - a.requests);
}

/** @param {Map<string, number>} counts @param {string} name */
function more(counts, name) {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** @param {Map<string, number>} counts @returns {string} the largest, and how many others there are */
function largest(counts) {
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  const told = sorted.slice(0, TOLD).map(([name, count]) => `${name} ${count}`);
  return [...told, ...(sorted.length > TOLD ? [`and ${sorted.length - TOLD} more`] : [])].join(", ");
}

/** @param {{recording: Recording, number: number, look: (client: string) => void}} props `look` shows what a client asked for */
export function Clients({ recording, number, look }) {
  const rows = clientsAt(recording, number).map((each) => [
    each.id ? html`<button type="button" title="what it asked for" onClick=${() => look(each.id)}>${visible(each.id)}</button>` : each.client,
    each.requests,
    largest(each.apis),
    largest(each.errors) || "none",
    each.unanswered,
    each.faults ? `⚡ ${each.faults}` : "none",
    time(each.lastMs),
  ]);
  return html`<${Table} title="Clients" columns=${["client", "requests", "most of them", "errors", "closed without an answer", "touched by faults", "last request"]}
    rows=${rows} nothing="No client has asked for anything yet." />`;
}
