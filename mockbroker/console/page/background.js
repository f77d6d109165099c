/**
 * What clients ask all the time though nothing happens: polls that find no records, and heartbeats.
 *
 * @typedef {import("./recording.js").Row} Row
 */

const HEARTBEATS = new Set(["Heartbeat", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat"]);
const POLLS = new Set(["Fetch", "ShareFetch"]);

/** @param {Row} row @returns {boolean} of a request without an answer, whether it usually becomes one of these */
export function isBackground({ event, answer, back }) {
  if (event.kind !== "request" || back) return false;
  if (answer && (answer.errors?.length || answer.faults?.length || answer.outcome !== "answer")) return false;
  if (HEARTBEATS.has(event.api)) return true;
  return POLLS.has(event.api) && !acknowledges(event.body) && !hasRecords(answer?.body);
}

/** @param {any} body of a Fetch's or a ShareFetch's answer */
function hasRecords(body) {
  return partitions(body?.responses).some((each) => each.records?.length);
}

/** @param {any} body of a ShareFetch */
function acknowledges(body) {
  return partitions(body?.topics).some((each) => each.acknowledgement_batches?.length);
}

/** @param {any[]} topics @returns {any[]} */
function partitions(topics) {
  return (topics ?? []).flatMap((each) => each.partitions ?? []);
}
