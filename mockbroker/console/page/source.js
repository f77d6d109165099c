import { token } from "./address.js";

/**
 * Where events come from: a running cluster, or a file.
 *
 * @typedef {import("./model.js").Event} Event
 * @typedef {{events: (events: Event[], more?: boolean) => void, until: (number: number, oldest?: number) => void,
 *   status: (text: string, bad?: boolean) => void, drawn?: () => Promise<void>}} Sink
 *   `events` with `more` are part of a summary, and `drawn` is when all of that can be seen; `until` is told the number of the last event there is, with which everything is loaded: Infinity if it is not
 *   known yet; and that of the oldest one that can be asked for
 */

const AGAIN_MS = 1000;
/** A page spends so much of the time on summaries; it waits no longer than PAUSE_MS for the next one. */
const SHARE = 0.2;
const PAUSE_MS = 2000;
/** So many of the last events are asked for when the page opens. */
const LAST = 20_000;
const KEYFRAME = /^{"kind":"keyframe","number":(\d+),"time_ms":(\d+),/;

/** The whole state, as a line: it is large, and seldom looked at. */
class Keyframe {
  /** @param {string} line @param {number} number @param {number} time */
  constructor(line, number, time) {
    this.kind = "keyframe";
    this.number = number;
    this.time_ms = time;
    this.line = line;
  }

  get rows() {
    return JSON.parse(this.line).rows;
  }
}

/** @param {string} line @returns {Event} */
function eventOf(line) {
  const found = KEYFRAME.exec(line);
  return found ? new Keyframe(line, Number(found[1]), Number(found[2])) : JSON.parse(line);
}

/** @param {Event} event @returns {string} as in a file */
export function lineOf(event) {
  return event instanceof Keyframe ? event.line : JSON.stringify(event);
}

/** @param {string} path @param {RequestInit} [options] */
export function ask(path, options = {}) {
  const given = token();
  const headers = { ...options.headers, ...(given ? { Authorization: `Bearer ${given}` } : {}) };
  return fetch(path, { ...options, headers });
}

/**
 * The events of a running cluster, first the last ones that it still has; goes on until the page is closed.
 * An answer ends where more happens than a page can read. Then the page asks for one summary after the other, each
 * once it has drawn the last one: who is slow or hidden asks less.
 * @param {Sink} sink
 */
export async function live(sink) {
  let last = -LAST;
  let ready = 0;
  for (;;) {
    try {
      const answer = await ask(`/trace/history?since=${last}&ready=${ready}`);
      if (!answer.ok || !answer.body) throw new Error(`the cluster answered ${answer.status}: ${await answer.text()}`);
      if (!ready) {
        sink.until(Number(answer.headers.get("last-event-id")), Number(answer.headers.get("first-event-id")));
        sink.status("live");
      }
      let beganMs = 0;
      let summary = false;
      for await (const lines of linesOf(answer.body)) {
        beganMs ||= performance.now();
        const events = lines.map(eventOf);
        const end = events[events.length - 1].number;
        const before = last < 0 ? events[0].number - 1 : last;
        if (end - before !== events.length) summary = true;
        last = end;
        sink.events(events, summary);
        if (ready) sink.status(summary ? "live, in summaries: more happens than a page can read" : "live");
      }
      ready = 1;
      if (summary) {
        await sink.drawn?.();
        const tookMs = performance.now() - beganMs;
        // Pages that have drawn at the same time would go on doing so, and clients of the cluster wait for all of them.
        await pause(Math.min(tookMs / SHARE - tookMs, PAUSE_MS) * (0.75 + Math.random() / 2));
      }
    } catch (error) {
      ready = 0;
      sink.status(`no connection: ${error instanceof Error ? error.message : error}`, true);
      await pause(AGAIN_MS);
    }
  }
}

/** @param {number} ms @returns {Promise<void>} */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * The events of a trace in a file.
 * @param {string} path @param {Sink} sink
 */
export async function file(path, sink) {
  sink.until(Infinity);
  const answer = await ask(path);
  if (!answer.ok || !answer.body) {
    sink.until(0);
    sink.status(`the file can't be read: ${answer.status}`, true);
    return;
  }
  let number = 0;
  let bad = 0;
  for await (const lines of linesOf(answer.body)) {
    const events = [];
    for (const line of lines) {
      number += 1;
      if (!line) continue;
      try {
        const row = eventOf(line);
        if (row.kind) events.push(row);
      } catch {
        bad += 1;
      }
    }
    sink.events(events);
  }
  sink.until(0);
  sink.status(bad ? `${number} lines, of which ${bad} could not be read` : "recorded", bad > 0);
}

/**
 * Whole lines, as many at once as have come.
 * @param {ReadableStream<Uint8Array>} body
 */
async function* linesOf(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (lines.length) yield lines;
  }
  if (rest) yield [rest];
}
