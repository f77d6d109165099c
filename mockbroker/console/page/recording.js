import { State } from "./model.js";

/**
 * @typedef {import("./model.js").Event} Event
 * @typedef {{event: Event, answer?: Event, decisions: Event[], back: boolean, notable?: boolean, was?: number, step?: Row[]}} Row
 *   what is listed: a request with its answer and the decisions that were taken for it, or another event;
 *   `back` if an offset went back; `notable` if the timeline shows it; `was` is the leader before; `step` has all changes of one cause
 */

/** How many events are kept; the oldest are forgotten, a fifth of them at a time. */
export const MOST = 100_000;

const NOTABLE = new Set([
  "leader",
  "truncation",
  "log-start",
  "broker",
  "in-sync-replicas",
  "topic",
  "topic-not-created",
  "policy",
  "malformed",
  "follower",
]);

/** So much later a change may be found that has the same reason as the one before. */
const LATE_MS = 1000;
/** What clients do, or is done to the cluster: a cause, and no consequence. */
const CAUSES = new Set(["request", "answer", "decision", "login", "malformed", "policy"]);

/** The events of a trace, and the state at each of them. */
export class Recording {
  constructor(most = MOST) {
    this.most = most;
    /** @type {Event[]} */
    this.events = [];
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Row[]} requests in the order in which they were answered */
    this.answered = [];
    /** @type {Row[]} what the timeline shows */
    this.notable = [];
    /** The state after the last event. */
    this.last = new State();
    /** @type {{index: number, before: State}[]} where keyframes are, and what they don't tell */
    this._keyframes = [];
    /** @type {Map<string, Row>} */
    this._open = new Map();
    /** @type {Map<number, Row>} */
    this._requests = new Map();
    this._gap = false;
    /** @type {Row[]} the changes of one cause that came last */
    this._step = [];
    /** Why a leader changed among them, and whether a client has asked for something since. */
    this._why = "";
    this._asked = false;
    this._whole = 0;
    /** @type {Set<string>} what was asked for so far, and by whom */
    this.apis = new Set();
    /** @type {Set<string>} */
    this.clients = new Set();
  }

  get first() {
    return this.events[0]?.number ?? 0;
  }

  /** @returns {number} from this event on, none is missing */
  get whole() {
    return Math.max(this.first, this._whole);
  }

  get end() {
    return this.events.at(-1)?.number ?? 0;
  }

  /** @param {Event} event if some before it are missing, the state is right again from the next keyframe on */
  add(event) {
    const begins = !this.events.length;
    if (!begins && event.number > this.end + 1) {
      this._gap = true;
      this._whole = event.number;
    }
    if (event.kind === "keyframe") {
      if (this._gap || begins) this.last = this.last.afresh();
      this._keyframes.push({ index: this.events.length, before: this.last.afresh() });
    }
    this.events.push(event);
    const was = event.kind === "leader" ? this.last.partitions.get(`${event.topic}-${event.partition}`)?.leader : undefined;
    // Otherwise a keyframe tells nothing new.
    if (event.kind !== "keyframe" || this._gap || begins) this.#list(event, this.last.apply(event), was);
    if (event.kind === "keyframe") this._gap = false;
    if (this.events.length > this.most) this.#forget();
  }

  /** @param {Event} event @param {"" | "back" | "first"} kind @param {number} [was] */
  #list(event, kind, was) {
    const key = `${event.broker} ${event.connection} ${event.correlation_id}`;
    switch (event.kind) {
      case "keyframe":
      case "appeared":
      case "replica":
      case "image":
      case "producer":
      case "member":
      case "share-session":
        return;
      case "answer": {
        const row = this._open.get(key);
        if (row) {
          row.answer = event;
          this.answered.push(row);
          this._open.delete(key);
          return;
        }
        break;
      }
      case "decision": {
        const row = this._requests.get(event.request);
        if (row) row.decisions.push(event);
        break;
      }
    }
    /** @type {Row} */
    const row = { event, decisions: [], back: kind === "back", was };
    this.#join(row);
    if (event.kind === "request") {
      this._open.set(key, row);
      this._requests.set(event.number, row);
      this.apis.add(event.api);
      if (typeof event.client_id === "string") this.clients.add(event.client_id);
    }
    this.rows.push(row);
    row.notable = row.back || (NOTABLE.has(event.kind) && kind !== "first" && !event.topic?.startsWith("__"));
    if (row.notable) this.notable.push(row);
  }

  /**
   * Changes that are found in one look come one after the other, at the same time. In a large cluster, which is not looked
   * at as a whole, some come a little later, with the same reason.
   * @param {Row} row
   */
  #join(row) {
    const { event } = row;
    if (CAUSES.has(event.kind)) {
      this._asked ||= event.kind !== "decision";
      return;
    }
    const last = this._step.at(-1)?.event;
    const atOnce = !this._asked && event.time_ms === last?.time_ms;
    const alike = event.reason && event.reason === this._why && event.time_ms - (last?.time_ms ?? 0) < LATE_MS;
    if (!atOnce && !alike) [this._step, this._why] = [[], ""];
    this._why = event.reason || this._why;
    this._asked = false;
    this._step.push(row);
    row.step = this._step;
  }

  #forget() {
    const least = this.most / 5;
    const from = this._keyframes.find((each) => each.index >= least)?.index ?? least;
    const first = this.events[from].number;
    this.events = this.events.slice(from);
    this.rows = this.rows.slice(before(this.rows, first));
    this.answered = this.answered.filter((row) => row.event.number >= first);
    this.notable = this.notable.slice(before(this.notable, first));
    this._keyframes = this._keyframes
      .filter((each) => each.index >= from)
      .map((each) => ({ ...each, index: each.index - from }));
    for (const number of [...this._requests.keys()]) if (number < first) this._requests.delete(number);
    for (const [key, row] of [...this._open]) if (row.event.number < first) this._open.delete(key);
  }

  /**
   * The number of the last event that had happened at a time; of the first one if none had.
   * @param {number} ms
   */
  numberAt(ms) {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.events[middle].time_ms <= ms) low = middle + 1;
      else high = middle;
    }
    return this.events[Math.max(low - 1, 0)]?.number ?? 0;
  }

  /**
   * What a file needs of a stretch: the events in it, and those before it from a keyframe on.
   * @param {number} first @param {number} last numbers of events @returns {Event[]}
   */
  stretch(first, last) {
    const begins = this._keyframes.findLast((each) => this.events[each.index].number <= first)?.index ?? 0;
    return this.events.slice(begins).filter((each) => each.number <= last);
  }

  /**
   * As if nothing else had happened than a stretch: what lists are made of.
   * @param {number} first @param {number} last numbers of events @returns {Recording}
   */
  within(first, last) {
    const part = (/** @type {Row[]} */ rows) => rows.slice(before(rows, first), before(rows, last + 1));
    const [rows, notable] = [part(this.rows), part(this.notable)];
    const answered = this.answered.filter(({ event }) => event.number >= first && event.number <= last);
    const events = this.events.filter(({ number }) => number >= first && number <= last);
    return Object.assign(Object.create(this), { events, rows, notable, answered });
  }

  /**
   * The state right after event `number`, which may be slow if there are no keyframes.
   * @param {number} number
   */
  at(number) {
    if (number >= this.end) return this.last;
    const start = this._keyframes.findLast((each) => this.events[each.index].number <= number);
    const state = (start?.before ?? new State()).afresh();
    state.topicNames = this.last.topicNames;
    for (let index = start?.index ?? 0; index < this.events.length; index++) {
      if (this.events[index].number > number) break;
      state.apply(this.events[index]);
    }
    return state;
  }
}

/**
 * How many rows come before event `number`.
 * @param {Row[]} rows @param {number} number
 */
export function before(rows, number) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].event.number < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * What is read off events one after the other, up to a moment: it is kept, and goes on as long as the moment moves forward.
 * @template {{number: number, add: (event: Event) => void}} Reader `number` is that of the last event it has read
 * @param {{recording: Recording | null, first: number, reader: Reader}} kept @param {() => Reader} begin makes one that has read nothing
 * @param {Recording} recording @param {number} number of the last event to read @returns {Reader}
 */
export function readUpTo(kept, begin, recording, number) {
  if (kept.recording !== recording || kept.first !== recording.first || kept.reader.number > number) {
    Object.assign(kept, { recording, first: recording.first, reader: begin() });
  }
  const { events } = recording;
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle].number <= kept.reader.number) low = middle + 1;
    else high = middle;
  }
  for (; low < events.length && events[low].number <= number; low++) kept.reader.add(events[low]);
  return kept.reader;
}
