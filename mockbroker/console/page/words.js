/**
 * What events are, in words.
 * @typedef {import("./model.js").Event} Event
 */

/** @param {number} ms Unix time in ms @returns {string} the time of day in UTC */
export function time(ms) {
  return new Date(ms).toISOString().slice(11, 23);
}

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Text that others chose: what would not be seen, or would turn the text around, is written as its number.
 * @param {string} text @returns {string}
 */
export function visible(text) {
  return text.replace(UNSEEN, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** @param {Event} event @returns {string} */
export function told(event) {
  const change = ofPartition(event);
  return change ? `${event.topic}-${event.partition}: ${change}` : toldOtherwise(event);
}

/**
 * Several changes of one cause: what is the same of several partitions is told once.
 * @param {Event[]} events @returns {string}
 */
export function toldTogether(events) {
  /** @type {Map<string, string[]>} */
  const places = new Map();
  for (const event of events) {
    const change = ofPartition(event);
    const words = change || toldOtherwise(event);
    places.set(words, [...(places.get(words) ?? []), ...(change ? [`${event.topic}-${event.partition}`] : [])]);
  }
  const where = (/** @type {string[]} */ names) => (names.length > 1 ? `${placesOf(names)}: ` : names.map((each) => `${each}: `).join(""));
  return [...places].map(([words, names]) => where(names) + words).join("; ");
}

/** @param {Event} event @returns {string} what changed of a partition; empty if it is about something else */
function ofPartition(event) {
  switch (event.kind) {
    case "leader":
      return `${event.leader < 0 ? "no leader" : `broker ${event.leader} leads`}, leader epoch ${event.leader_epoch}${event.reason ? ` (${event.reason})` : ""}`;
    case "in-sync-replicas":
      return `in-sync replicas ${event.in_sync_replicas.join(", ")}`;
    case "high-watermark":
      return `high watermark ${event.high_watermark}, log end offset ${event.log_end_offset}`;
    case "log-start":
      return `log start offset ${event.log_start_offset}`;
    case "truncation":
      return `broker ${event.broker} truncated from ${event.from_offset} to ${event.to_offset}`;
    case "follower":
      return `follower ${event.broker} ${event.state}${event.failure ? `: ${event.failure}` : ""}`;
  }
  return "";
}

/** @param {Event} event @returns {string} */
function toldOtherwise(event) {
  const place = event.partition === undefined ? event.topic : `${event.topic}-${event.partition}`;
  switch (event.kind) {
    case "request":
      return `${event.api} v${event.version} ${short(event.names)}`;
    case "answer":
      return `${event.api} ${event.errors.join(" ") || event.outcome}`;
    case "broker":
      return `broker ${event.broker} is ${event.state}${event.fenced ? ", fenced" : ""}`;
    case "group":
      return `group ${event.group}: ${event.state}, generation ${event.generation}, ${event.members} members`;
    case "transaction":
      return `transaction ${event.transactional_id}: ${event.state}, producer ${event.producer_id} epoch ${event.producer_epoch}`;
    case "topic":
      return event.partitions ? `topic ${event.topic}: ${event.partitions} partitions` : `topic ${event.topic} deleted`;
    case "topic-not-created":
      return `topic ${event.topic} not created: ${event.failure}`;
    case "committed":
      return event.offset < 0
        ? `group ${event.group} has no committed offset of ${place} any more`
        : `group ${event.group} committed ${event.offset} of ${place}`;
    case "share-partition":
      return event.start_offset < 0
        ? `share group ${event.group} of ${place}: nothing was read`
        : [`share group ${event.group} of ${place} from ${event.start_offset}`, ...event.in_flight.map(range)].join(", ");
    case "policy":
      return `${event.name} = ${event.answer}${event.topic ? ` for ${event.topic}` : ""}`;
    case "decision":
      return `${event.name} = ${event.answer} (${event.source})${answered(event)}`;
    case "login":
      return event.failure ? `login failed: ${event.failure}` : `${event.principal} by ${event.mechanism || event.tls}`;
    case "malformed":
      return `closed: ${event.reason}`;
    default:
      return event.kind;
  }
}

/** @param {[number, number, string, number, string | null, number | null]} records of a share partition */
function range([first, last, state, deliveries, member]) {
  return `${offsets(first, last)} ${state}${member ? ` by ${member}` : ""}${deliveries > 1 ? ` (delivered ${deliveries} times)` : ""}`;
}

/** @param {number} first @param {number} last */
export function offsets(first, last) {
  return first === last ? `${first}` : `${first}–${last}`;
}

/**
 * Partitions in few words: orders 0–35, 40.
 * @param {string[]} names
 */
export function placesOf(names) {
  /** @type {Map<string, number[]>} */
  const topics = new Map();
  for (const name of names) {
    const at = name.lastIndexOf("-");
    const topic = name.slice(0, at);
    topics.set(topic, [...(topics.get(topic) ?? []), Number(name.slice(at + 1))]);
  }
  return [...topics].map(([topic, indexes]) => `${topic} ${rangesOf(indexes.sort((a, b) => a - b)).join(", ")}`).join("; ");
}

/** @param {number[]} indexes in order @returns {string[]} */
function rangesOf(indexes) {
  /** @type {[number, number][]} */
  const found = [];
  for (const each of indexes) {
    const last = found.at(-1);
    if (last && last[1] === each - 1) last[1] = each;
    else found.push([each, each]);
  }
  return found.map(([first, last]) => offsets(first, last));
}

/** @param {Event} event a decision */
function answered(event) {
  if (!event.asked) return "";
  const asked = Object.entries(event.asked).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
  return `: ${asked.join(", ")} → ${JSON.stringify(event.answered)}`;
}

/** @param {string[]} names */
function short(names) {
  return names.length > 4 ? `${names.slice(0, 4).join(" ")} and ${names.length - 4} more` : names.join(" ");
}
