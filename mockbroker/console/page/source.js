import { token } from "./address.js";

/**
 * Where events come from: a running cluster, or a file.
 *
 * @typedef {import("./model.js").Event} Event
 * @typedef {{events: (events: Event[]) => void, until: (number: number, oldest?: number) => void,
 *   status: (text: string, bad?: boolean) => void}} Sink
 *   `until` is told the number of the last event there is, with which everything is loaded: Infinity if it is not
 *   known yet; and that of the oldest one that can be asked for
 */

const AGAIN_MS = 1000;
/** How long nothing may be left out until everything counts as read again. */
const GAP_MS = 500;
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
 * @param {Sink} sink
 */
export async function live(sink) {
  let last = -LAST;
  for (;;) {
    try {
      const answer = await ask(`/trace/history?since=${last}`);
      if (!answer.ok || !answer.body) throw new Error(`the cluster answered ${answer.status}: ${await answer.text()}`);
      sink.until(Number(answer.headers.get("last-event-id")), Number(answer.headers.get("first-event-id")));
      sink.status("live");
      let whole = true;
      let gapMs = -Infinity;
      for await (const lines of linesOf(answer.body)) {
        const events = lines.map(eventOf);
        const end = events[events.length - 1].number;
        if (last >= 0 && end - last !== events.length) gapMs = performance.now();
        // A summary comes in parts, some of which are whole.
        if (whole !== performance.now() - gapMs > GAP_MS) {
          whole = !whole;
          sink.status(whole ? "live" : "live, in summaries: more happens than a page can read");
        }
        last = end;
        sink.events(events);
      }
      sink.status("the cluster has ended", true);
    } catch (error) {
      sink.status(`no connection: ${error instanceof Error ? error.message : error}`, true);
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
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
