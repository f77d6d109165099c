/**
 * What share groups have of partitions (KIP-932), and why their members get nothing.
 *
 * @typedef {import("./model.js").State} State
 * @typedef {import("./model.js").SharePartition} SharePartition
 */

import { offsets, time } from "./words.js";

/** @param {string} group @param {string} member */
const memberKey = (group, member) => JSON.stringify([group, member]);

/** @param {SharePartition} share @returns {string} */
export function nameOf(share) {
  return `${share.topic}-${share.partition}`;
}

/**
 * How many records in flight have each state.
 * @param {SharePartition} share @returns {Record<string, number>}
 */
export function countsOf(share) {
  /** @type {Record<string, number>} */
  const counts = { available: 0, acquired: 0, acknowledged: 0, archiving: 0, archived: 0 };
  for (const [first, last, state] of share.in_flight) counts[state] += last - first + 1;
  return counts;
}

/**
 * As kafka-share-groups.sh has it (KIP-1226): how many records are not done yet.
 * @param {State} state @param {SharePartition} share @returns {number | "–"}
 */
export function lagOf(state, share) {
  const partition = state.partitions.get(nameOf(share));
  if (!partition || share.start_offset < 0) return "–";
  const { acknowledged, archived } = countsOf(share);
  return Math.max(0, partition.highWatermark - share.start_offset - acknowledged - archived);
}

/**
 * The client id of a member, or its member id where several have that client id.
 * @param {State} state @param {string} group @param {string} member
 */
export function whoIs(state, group, member) {
  const client = state.members.get(memberKey(group, member))?.client_id;
  const same = [...state.members.values()].filter((each) => each.group === group && each.client_id === client);
  return client && same.length === 1 ? client : member;
}

/**
 * Why members get nothing of a partition; empty if they would get something now.
 * @param {State} state @param {SharePartition} share @returns {string}
 */
export function whyNothing(state, share) {
  const name = nameOf(share);
  const partition = state.partitions.get(name);
  const members = [...state.members.values()].filter((each) => each.group === share.group);
  if (!members.length) return "the group has no members";
  if (!partition || partition.leader < 0) return "the partition has no leader";
  if (!members.some((each) => each.assigned.includes(name))) return "it is assigned to no member yet";
  if (share.start_offset < 0) return share.coordinator < 0 ? "the share coordinator is not there" : "no member has read yet";
  const reading = [...state.shareSessions.values()].some((each) => each.group === share.group && each.names.includes(name));
  if (!reading) return "no member has a share session with it";
  if (share.in_flight.some((each) => each[2] === "available")) return "";
  const end = (share.in_flight.at(-1)?.[1] ?? share.start_offset - 1) + 1;
  if (end < partition.highWatermark) {
    if (partition.lastStable > end || partition.lastStable === partition.highWatermark) return "";
    return `a transaction is open from offset ${partition.lastStable} on: a group with read_committed waits for its end`;
  }
  const acquired = share.in_flight.filter((each) => each[2] === "acquired");
  if (acquired.length) {
    const first = Math.min(...acquired.map((each) => each[5] ?? Infinity));
    const by = new Set(acquired.map((each) => whoIs(state, share.group, each[4] ?? "")));
    return `all that is left is acquired by ${[...by].join(", ")}: the first lock ends at ${time(first)}`;
  }
  return share.in_flight.some((each) => each[2] === "archiving") ? "the rest waits to be written as dead letters" : "nothing is left";
}
