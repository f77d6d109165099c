import { html, useEffect, useMemo, useState } from "./html.js";
import { before } from "./recording.js";
import { ask } from "./source.js";
import { time, told } from "./words.js";

/**
 * What a fault would hit, before it is added, and the names that its fields may have.
 *
 * @typedef {import("./fields.js").Field} Field
 * @typedef {import("./fields.js").Suggestion} Suggestion
 * @typedef {import("./model.js").State} State
 * @typedef {import("./recording.js").Recording} Recording
 * @typedef {{fault: string, requests: number, matching: number, touched: number[], why: string, illegal: string}} Told
 * @typedef {{told?: Told, error: string, field: string}} Preview
 *   what the server said of a fault; or an error, and the field that is wrong if it is known
 */

const TYPING_MS = 250;
const AGAIN_MS = 2000;
const SHOWN = 100;

/**
 * What the server says that the fault would have hit, asked again when another one is described or more requests have
 * come; null until it has answered.
 * @param {Record<string, any> | null} fault null if it is not complete yet
 * @param {Recording} recording
 * @returns {Preview | null}
 */
export function usePreview(fault, recording) {
  const [preview, setPreview] = useState(/** @type {Preview | null} */ (null));
  const [end, setEnd] = useState(recording.end);
  const text = fault && JSON.stringify(fault);
  useEffect(() => {
    const timer = setInterval(() => setEnd(recording.end), AGAIN_MS);
    return () => clearInterval(timer);
  }, [recording]);
  useEffect(() => {
    if (text === null) {
      setPreview(null);
      return;
    }
    let over = false;
    const timer = setTimeout(async () => {
      const found = await previewed(text);
      if (!over) setPreview(found);
    }, TYPING_MS);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [text, end]);
  return preview;
}

/** @param {string} body @returns {Promise<Preview>} */
async function previewed(body) {
  try {
    const headers = { "content-type": "application/json" };
    const answer = await ask("/faults/preview", { method: "POST", body, headers });
    const found = await answer.json();
    if (answer.ok) return { told: found, error: "", field: "" };
    return { error: found.error ?? `status ${answer.status}`, field: found.field ?? "" };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error), field: "" };
  }
}

/** @param {Told} told @returns {string} */
export function inWords({ requests, matching, touched, why }) {
  if (!requests) return "No requests have come yet.";
  const last = `of the last ${requests} requests`;
  if (!matching) return `It would have hit none ${last}: ${why}.`;
  if (touched.length === requests) return `It would have hit every one ${last}: no condition leaves any out.`;
  if (!touched.length) return `${matching} ${last} match, but it would have hit none: ${why}.`;
  const chosen = matching > touched.length ? ` (${matching} match; nth, times and probability choose among them)` : "";
  return `It would have hit ${touched.length} ${last}${chosen}.`;
}

/**
 * Which requests a fault would have hit.
 * @param {{preview: Preview | null, missing: string[], recording: Recording, goTo: (number: number) => void}} props
 *   `missing` are the fields without which that is not known
 */
export function Hits({ preview, missing, recording, goTo }) {
  const found = preview?.told;
  const rows = useMemo(() => rowsOf(recording, found?.touched.slice(-SHOWN) ?? []), [found, recording.first]);
  const many = found !== undefined && found.requests > 0 && found.touched.length === found.requests;
  const text = missing.length ? `Give ${missing.join(" and ")} to see what it would hit.` : found ? inWords(found) : unknown(preview);
  return html`<section class="hits" aria-label="what it would hit">
    <p role="status" class=${many ? "many" : ""}>${many ? "⚠ " : ""}${text}</p>
    ${found?.illegal && html`<p class="illegal">⚠ ${capital(found.illegal)}.</p>`}
    ${found && rows.length > 0 &&
    html`<ol reversed start=${found.touched.length} tabindex="0" aria-label="requests that it would have hit">
      ${[...rows].reverse().map(
        ({ event }) => html`<li key=${event.number}>
          <button type="button" class="line" title="show this moment" onClick=${() => goTo(event.number)}>
            <span class="time">${time(event.time_ms)}</span>
            <span class="who">${event.client_id ?? "–"} → ${event.broker}</span>
            <span class="what">${told(event)}</span>
          </button>
        </li>`,
      )}
    </ol>`}
    ${found && found.touched.length > SHOWN && html`<p>These are the last ${SHOWN} of them.</p>`}
  </section>`;
}

/** @param {Recording} recording @param {number[]} numbers of events; those that the page has not got are left out */
function rowsOf({ rows }, numbers) {
  return numbers.map((number) => rows[before(rows, number)]).filter((row, index) => row?.event.number === numbers[index]);
}

/** @param {Preview | null} preview */
function unknown(preview) {
  if (preview?.field) return `Correct ${preview.field} to see what it would hit.`;
  return preview?.error ?? "";
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * What clients have asked for so far.
 * @typedef {{apis: string[], clients: string[]}} Seen
 * @param {Recording} recording @returns {Seen}
 */
export function seenIn({ rows }) {
  const apis = new Set();
  const clients = new Set();
  for (const { event } of rows) {
    if (event.kind !== "request") continue;
    apis.add(event.api);
    if (event.client_id) clients.add(event.client_id);
  }
  return { apis: [...apis], clients: [...clients] };
}

/**
 * The names that a field may have: those of the description, and those of this cluster.
 * @param {Field} field @param {State} state @param {Seen} seen @param {string[]} apis for which the fault is
 * @returns {Suggestion[]}
 */
export function suggestionsFor(field, state, seen, apis) {
  const plain = (/** @type {Iterable<unknown>} */ values) => [...values].map((value) => ({ value: String(value) }));
  switch (field.name) {
    case "api":
      return sorted(field.examples, (each) => (seen.apis.includes(each) ? "requested so far" : ""));
    case "error": {
      const known = apis.filter((each) => field.legal[each]);
      const where = `Kafka answers it in ${known.join(" and ")}`;
      return sorted(field.examples, (each) => (known.length && known.every((api) => field.legal[api].includes(each)) ? where : ""));
    }
    case "topic":
      return plain(state.topics.keys());
    case "group":
      return plain(state.groups.keys());
    case "client_id":
    case "member":
      return plain(seen.clients);
    case "transactional_id":
      return plain(state.transactions.keys());
    case "broker":
    case "target":
      return plain(state.brokers.keys());
    case "from":
      return plain([...state.brokers.keys(), "controller"]);
    default:
      return plain(field.examples);
  }
}

/**
 * Those with a label come first.
 * @param {string[]} values @param {(value: string) => string} labelOf @returns {Suggestion[]}
 */
function sorted(values, labelOf) {
  const found = values.map((value) => ({ value, label: labelOf(value) }));
  return [...found.filter((each) => each.label), ...found.filter((each) => !each.label).map(({ value }) => ({ value }))];
}
