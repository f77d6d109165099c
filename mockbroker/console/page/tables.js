import { html } from "./html.js";

/** @typedef {import("./model.js").State} State */

/** @param {{title: string, columns: string[], rows: any[][], nothing: string}} props */
function Table({ title, columns, rows, nothing }) {
  if (!rows.length) return html`<p class="nothing">${nothing}</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${title}>
    <table>
      <caption>${title}</caption>
      <thead><tr>${columns.map((each) => html`<th scope="col">${each}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr>${row.map((each) => html`<td>${each}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
}

/** @param {{state: State}} props */
export function Brokers({ state }) {
  const rows = [...state.brokers].map(([id, { state: how, fenced }]) => {
    const led = [...state.partitions.values()].filter((each) => each.leader === id).length;
    return [id, how + (fenced ? ", fenced" : ""), led];
  });
  return html`<${Table} title="Brokers" columns=${["broker", "state", "partitions led"]} rows=${rows} nothing="No brokers are known." />`;
}

/** @param {{state: State}} props */
export function Groups({ state }) {
  const groups = [...state.groups.values()].filter((each) => each.state !== "Dead");
  const rows = groups.map((each) => [each.group, each.state, each.generation, each.members, each.coordinator]);
  const offsets = offsetsOf(state);
  return html`<${Table} title="Groups" columns=${["group", "state", "generation", "members", "coordinator"]} rows=${rows} nothing="No groups yet." />
    ${offsets.length > 0 &&
    html`<${Table} title="Committed offsets" columns=${["group", "partition", "offset", "leader epoch", "lag"]} rows=${offsets} nothing="" />`}`;
}

/**
 * The committed offsets of groups, with their lag. As Kafka's own kafka-consumer-groups.sh has it, a partition that a group
 * reads without having committed anything is there, and has no lag.
 * @param {State} state @returns {any[][]} group, partition, offset, leader epoch and lag
 */
export function offsetsOf(state) {
  /** @type {any[][]} */
  const found = [];
  for (const partition of state.partitions.values()) {
    const reading = [...state.asked].filter(([, names]) => names.has(partition.name)).map(([group]) => group);
    for (const group of new Set([...partition.committed.keys(), ...reading])) {
      if (state.groups.get(group)?.state === "Dead") continue;
      const one = partition.committed.get(group);
      const lag = one ? partition.highWatermark - one.offset : "–";
      found.push([group, partition.name, one?.offset ?? "–", one && one.leader_epoch >= 0 ? one.leader_epoch : "–", lag]);
    }
  }
  return found.sort((a, b) => (a[0] === b[0] ? 0 : a[0] < b[0] ? -1 : 1));
}

/** @param {{state: State}} props */
export function Transactions({ state }) {
  const rows = [...state.transactions.values()].map((each) => [
    each.transactional_id,
    each.state,
    each.producer_id,
    each.producer_epoch,
    each.coordinator,
  ]);
  return html`<${Table} title="Transactions" columns=${["transactional id", "state", "producer", "epoch", "coordinator"]} rows=${rows} nothing="No transactions yet." />`;
}

/** @param {{state: State}} props */
export function Producers({ state }) {
  /** @type {any[][]} */
  const rows = [];
  for (const partition of state.partitions.values()) {
    for (const [id, { producer_epoch, last_sequence }] of partition.producers) {
      rows.push([partition.name, id, producer_epoch, last_sequence]);
    }
  }
  return html`<${Table} title="Producers, as leaders know them" columns=${["partition", "producer", "epoch", "last sequence"]} rows=${rows} nothing="No idempotent producers yet." />`;
}
