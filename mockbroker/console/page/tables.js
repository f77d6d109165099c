import { html } from "./html.js";
import { time, visible } from "./words.js";

/**
 * @typedef {import("./model.js").State} State
 * @typedef {import("./model.js").Event} Event
 */

/** Transactions in these states have not ended. */
const OPEN = new Set(["Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"]);

/** A table has no more rows than this. */
const MOST = 200;

/**
 * Of a large table, the first rows. Without rows it is what is said of `nothing`.
 * @param {{title: string, columns: string[], rows: any[][], nothing: string}} props
 */
export function Table({ title, columns, rows, nothing }) {
  if (!rows.length) return nothing && html`<p class="nothing">${nothing}</p>`;
  const kinds = columns.map((_, index) => (rows.some((row) => typeof row[index] === "number") ? "number" : ""));
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${title}>
    <table>
      <caption>${title}${rows.length > MOST ? `: ${MOST} of ${rows.length}` : ""}</caption>
      <thead><tr>${columns.map((each, index) => html`<th scope="col" class=${kinds[index]}>${each}</th>`)}</tr></thead>
      <tbody>${rows.slice(0, MOST).map((row) => html`<tr>${row.map((each, index) => html`<td class=${kinds[index]}>${typeof each === "string" ? visible(each) : each}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
}

/**
 * Brokers, what they believe of partitions otherwise than the controller does, and which partitions got another leader.
 * @param {{state: State, recording: import("./recording.js").Recording, number: number}} props
 */
export function Brokers({ state, recording, number }) {
  const rows = [...state.brokers].map(([id, { state: how, fenced }]) => {
    const led = [...state.partitions.values()].filter((each) => each.leader === id).length;
    const missing = state.images.get(id)?.missing ?? 0;
    const learned = how !== "running" ? "–" : missing ? `${missing} record${missing > 1 ? "s" : ""} behind` : "up to date";
    return [id, how + (fenced ? ", fenced" : ""), led, learned];
  });
  const columns = ["broker", "partition", "believed leader", "believed leader epoch", "leader", "leader epoch"];
  return html`<${Table} title="Brokers" columns=${["broker", "state", "partitions led", "metadata"]} rows=${rows} nothing="No brokers are known." />
    <${Table} title="What brokers believe otherwise than the controller" columns=${columns} rows=${beliefsOf(state)}
      nothing=${rows.length ? `At ${time(state.timeMs)} every running broker knew the leader and the leader epoch of each partition.` : ""} />
    <${Table} title="When leaders changed, and why" columns=${["at", "partition", "leader before", "leader", "leader epoch", "why"]} rows=${movesIn(recording, number)}
      nothing=${recording.events.length ? `No leader changed since ${time(recording.events[0].time_ms)}.` : ""} />`;
}

/**
 * @param {import("./recording.js").Recording} recording @param {number} number of an event
 * @returns {any[][]} time, partition, leader before and after, leader epoch and reason, the last one first; earlier traces have no reasons
 */
export function movesIn({ notable }, number) {
  const who = (/** @type {number | undefined} */ leader) => (leader === undefined || leader < 0 ? "none" : leader);
  const moves = notable.filter(({ event }) => event.kind === "leader" && event.number <= number).reverse();
  return moves.map(({ event, was }) => [time(event.time_ms), `${event.topic}-${event.partition}`, who(was), who(event.leader), event.leader_epoch, event.reason || "–"]);
}

/**
 * Earlier traces tell it only of partitions of which a broker has a replica.
 * @param {State} state @returns {any[][]} broker, partition, leader and leader epoch as it knows them, and as the controller does
 */
export function beliefsOf(state) {
  /** @type {any[][]} */
  const found = [];
  for (const [broker, { state: how }] of state.brokers) {
    if (how !== "running") continue;
    const known = new Map((state.images.get(broker)?.known ?? []).map(([topic, index, ...own]) => [`${topic}-${index}`, own]));
    for (const { name, leader, leaderEpoch, replicas } of state.partitions.values()) {
      const own = replicas.get(broker);
      if (own && (own.leader !== leader || own.leader_epoch !== leaderEpoch)) known.set(name, [own.leader, own.leader_epoch]);
    }
    for (const [name, [leader, epoch]] of known) {
      const now = state.partitions.get(name);
      // Internal partitions are told only once something is in them.
      if (!now && name.startsWith("__")) continue;
      const believed = epoch < 0 ? ["not known", "–"] : [leader < 0 ? "none" : leader, epoch];
      found.push([broker, name, ...believed, ...(now ? [now.leader < 0 ? "none" : now.leader, now.leaderEpoch] : ["deleted", "–"])]);
    }
  }
  return found;
}

/** @param {{state: State}} props */
export function Transactions({ state }) {
  const rows = [...state.transactions.values()].map((each) => [
    each.transactional_id,
    each.state,
    time(state.since.get(each.transactional_id)?.ms ?? state.timeMs),
    waitingFor(state, each).join(", ") || "–",
    each.producer_id,
    each.producer_epoch,
    each.coordinator,
  ]);
  const columns = ["transactional id", "state", "since", "holds the last stable offset of", "producer", "epoch", "coordinator"];
  return html`<${Table} title="Transactions" columns=${columns} rows=${rows} nothing="No transactions yet. One is here once a client with a transactional id has asked for its producer id." />`;
}

/** @param {State} state @param {Event} transaction @returns {string[]} partitions with records of a producer whose transaction is open */
export function waitingFor(state, { state: how, producer_id: producer }) {
  if (!OPEN.has(how)) return [];
  const waits = [...state.partitions.values()].filter((each) => each.lastStable < each.highWatermark && each.producers.has(producer));
  return waits.map((each) => `${each.name} at ${each.lastStable}`);
}

/** @param {{state: State}} props */
export function Producers({ state }) {
  /** @type {any[][]} */
  const rows = [];
  for (const partition of state.partitions.values()) {
    for (const [id, { producer_epoch, last_sequence }] of partition.producers) {
      const client = state.writers.get(id);
      rows.push([partition.name, id, client === undefined ? "–" : client || "(no client id)", producer_epoch, last_sequence]);
    }
  }
  return html`<${Table} title="Producers, as leaders know them" columns=${["partition", "producer", "client", "epoch", "last sequence"]} rows=${rows} nothing="No idempotent producers yet: nobody has written records with a producer id." />`;
}
