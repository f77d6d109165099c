import { html, useMemo } from "./html.js";
import { nameOf } from "./sharing.js";
import { Table } from "./tables.js";
import { offsets, placesOf, time } from "./words.js";

/**
 * What is different at the end of a stretch from what was before it.
 *
 * @typedef {import("./model.js").State} State
 * @typedef {import("./recording.js").Recording} Recording
 */

/** @param {State} state @returns {Map<string, Record<string, any>>} the values of each thing, by its name */
function thingsOf(state) {
  /** @type {Map<string, Record<string, any>>} */
  const found = new Map();
  for (const [id, { state: how, fenced }] of state.brokers) {
    found.set(`broker ${id}`, { state: how, fenced, "metadata records behind": state.images.get(id)?.missing ?? 0 });
  }
  for (const [name, { partitions }] of state.topics) found.set(`topic ${name}`, { partitions });
  for (const each of state.partitions.values()) {
    const { name, leader, leaderEpoch, isr, logStart, lastStable, highWatermark } = each;
    const ends = { "log start offset": logStart, "last stable offset": lastStable, "high watermark": highWatermark };
    found.set(name, { leader: leader < 0 ? "none" : leader, "leader epoch": leaderEpoch, "in sync": isr.join(" "), ...ends });
    for (const replica of each.lanes()) {
      const { broker, log_end_offset, leader: known, leader_epoch } = replica;
      const how = each.followers.get(broker);
      const told = how ? how.state + (how.failure ? `: ${how.failure}` : "") : "";
      found.set(`${name} on broker ${broker}`, { "log end offset": log_end_offset, "knows leader": known, "knows leader epoch": leader_epoch, follows: told });
    }
    for (const [id, { producer_epoch, last_sequence }] of each.producers) {
      found.set(`${name}, producer ${id}`, { epoch: producer_epoch, "last sequence": last_sequence });
    }
    for (const [group, { offset }] of each.committed) found.set(`group ${group} in ${name}`, { committed: offset });
  }
  for (const { group, state: how, generation, members, coordinator } of state.groups.values()) {
    found.set(`group ${group}`, { state: how, generation, members, coordinator });
  }
  for (const { group, member_id: id, client_id, epoch, assigned } of state.members.values()) {
    found.set(`member ${id} of ${group}`, { client: client_id, epoch, assigned: placesOf(assigned) });
  }
  for (const each of state.sharePartitions.values()) {
    const flight = each.in_flight.map(([first, last, how]) => `${offsets(first, last)} ${how}`).join(", ");
    found.set(`share group ${each.group} in ${nameOf(each)}`, { "start offset": each.start_offset, "in flight": flight });
  }
  for (const { transactional_id: id, state: how, producer_id, producer_epoch, coordinator } of state.transactions.values()) {
    found.set(`transaction ${id}`, { state: how, producer: producer_id, epoch: producer_epoch, coordinator });
  }
  return found;
}

/**
 * @param {State} from @param {State} to
 * @returns {string[][]} thing, which of its values, and what that was and is; one that came or went has a line for each
 */
export function changesBetween(from, to) {
  const [before, after] = [thingsOf(from), thingsOf(to)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [was, is] = [before.get(name) ?? {}, after.get(name) ?? {}];
    const values = [...new Set([...Object.keys(was), ...Object.keys(is)])];
    const told = (/** @type {any} */ value) => (value === undefined ? "was not there" : `${value}` || "–");
    return values
      .filter((each) => was[each] !== is[each])
      .map((each) => [name, each, told(was[each]), is[each] === undefined ? "is not there" : told(is[each])]);
  });
}

/** @param {{recording: Recording, stretch: number[] | null}} props */
export function Changes({ recording, stretch }) {
  const [first, last] = stretch ?? [0, 0];
  const [from, to] = useMemo(() => [recording.at(first - 1), recording.at(last)], [recording, recording.first, first, last]);
  if (!stretch) return html`<p class="nothing">Drag over the timeline, or press “from here” and “to here”: what changed meanwhile is listed here.</p>`;
  const rows = changesBetween(from, to);
  const when = `${time(from.timeMs)} to ${time(to.timeMs)}`;
  return html`<${Table} title=${`What changed from ${when}`} columns=${["what", "value", "before", "after"]} rows=${rows}
    nothing=${`Nothing changed from ${when}.`} />`;
}
