import { html } from "./html.js";
import { usePolled } from "./polled.js";
import { Table } from "./tables.js";
import { time } from "./words.js";

/**
 * What makes brokers answer otherwise than those of the release: faults, and behaviours.
 *
 * @typedef {import("./recording.js").Recording} Recording
 * @typedef {import("./groups.js").Act} Act
 * @typedef {{name: string, fault: string, hits: number, held: number, over: boolean, illegal: string, why: string}} Fault
 * @typedef {{name: string, answer: string, default: string, summary: string,
 *   overrides: {topic: string | null, broker: number | null, answer: string}[]}} Behaviour
 */

/** @type {Fault[]} */
const NO_FAULTS = [];
/** @type {Behaviour[]} */
const NO_BEHAVIOURS = [];
const SPACE = " ";

/** @param {{recording: Recording, act: Act}} props of a running cluster, at present */
export function Faults({ recording, act }) {
  const faults = usePolled("/faults", NO_FAULTS);
  const rows = faults.map((each) => [
    each.name,
    each.fault + (each.illegal ? ` — no broker does so: ${each.illegal}` : ""),
    firing(each),
    whoWasHit(recording, each) || "nobody",
    html`<button type="button" onClick=${() => act("faults-pause", { name: each.name })}>pause</button>${SPACE}
      <button type="button" onClick=${() => act("faults-remove", { name: each.name })}>remove</button>`,
  ]);
  return html`<div class="filters"><button type="button" onClick=${() => act("faults-add", {})}>add a fault</button></div>
    <${Table} title="Faults" columns=${["name", "fault", "fired", "who was hit", ""]} rows=${rows} nothing="There are no faults: brokers answer as they should." />`;
}

/** How often it fired; if it has not, what it waits for. @param {Fault} fault */
function firing({ hits, held, over, why }) {
  return `${hits === 1 ? "once" : `${hits} times`}${held ? `, holds ${held}` : ""}${over ? ", and is over" : ""}${why ? `: ${why}` : ""}`;
}

/** @param {Recording} recording @param {Pick<Fault, "name" | "fault">} fault @returns {string} clients, and how often each */
export function whoWasHit(recording, { name, fault }) {
  /** @type {Map<string, number>} */
  const clients = new Map();
  for (const { event, answer } of recording.answered) {
    if (!answer?.faults?.some((/** @type {string} */ each) => each === fault || each === `${fault} name=${name}`)) continue;
    const client = event.client_id || "(no client id)";
    clients.set(client, (clients.get(client) ?? 0) + 1);
  }
  return [...clients].map(([client, times]) => `${client} ${times}`).join(", ");
}

/** @param {{recording: Recording, act: Act}} props of a running cluster, at present */
export function Behaviours({ recording, act }) {
  const behaviours = usePolled("/policies", NO_BEHAVIOURS);
  const rows = differing(behaviours).map(([name, where, answer, usual, summary]) => [
    name,
    where,
    answer,
    usual,
    since(recording, name),
    summary,
    html`<button type="button" onClick=${() => act("policies-reset", { name })}>as released</button>`,
  ]);
  const columns = ["behaviour", "where", "answer", "of the release", "since", "what it decides", ""];
  return html`<div class="filters"><button type="button" onClick=${() => act("policies-set", {})}>choose an answer</button></div>
    <${Table} title="Behaviours that differ from the release" columns=${columns} rows=${rows} nothing=${behaviours.length ? "Brokers behave as those of the release." : "Asking …"} />`;
}

/** @param {Behaviour[]} behaviours @returns {string[][]} of each that differs: name, where, answer, the release's answer, summary */
export function differing(behaviours) {
  return behaviours.flatMap(({ name, default: usual, overrides, summary }) =>
    overrides
      .filter((each) => each.answer !== usual)
      .map(({ topic, broker, answer }) => {
        const where = [topic === null ? "" : `topic ${topic}`, broker === null ? "" : `broker ${broker}`].filter(Boolean);
        return [name, where.join(", ") || "everywhere", answer, usual, summary];
      }),
  );
}

/** @param {Recording} recording @param {string} name @returns {string} when its answer was chosen last */
function since(recording, name) {
  const row = recording.notable.findLast((each) => each.event.kind === "policy" && each.event.name === name);
  return row ? time(row.event.time_ms) : "the start";
}
