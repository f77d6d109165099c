import { html } from "./html.js";
import { across, Plot, WIDTH } from "./plot.js";
import { time } from "./words.js";

/**
 * How far groups were behind, from the first event that the page has to the moment that is shown.
 *
 * @typedef {import("./model.js").Event} Event
 * @typedef {{ms: number, lag: number}} Point
 */

/** What groups have committed, and where partitions end, as far as it was read. */
export class Lags {
  constructor() {
    this.number = 0;
    /** @type {Map<string, number>} high watermarks by partition */
    this.ends = new Map();
    /** @type {Map<string, Map<string, number>>} what groups have committed, by partition and group */
    this.committed = new Map();
    /** @type {Map<string, number>} in all partitions together, by group */
    this.lags = new Map();
    /** @type {Map<string, Point[]>} each lag that was another one than before, by group */
    this.points = new Map();
  }

  /** @param {Event} event */
  add(event) {
    this.number = event.number;
    const rows = event.kind === "keyframe" || event.kind === "appeared" ? event.rows : [event];
    for (const row of rows) {
      if (row.kind === "high-watermark") this.#moved(`${row.topic}-${row.partition}`, row.high_watermark, event.time_ms);
      else if (row.kind === "committed") this.#commits(`${row.topic}-${row.partition}`, row, event.time_ms);
    }
  }

  /** @param {string} name @param {number} end @param {number} ms */
  #moved(name, end, ms) {
    const before = this.ends.get(name);
    this.ends.set(name, end);
    for (const [group, offset] of this.committed.get(name) ?? []) this.#mark(group, behind(end, offset) - behind(before, offset), ms);
  }

  /** @param {string} name @param {Record<string, any>} row @param {number} ms */
  #commits(name, { group, offset }, ms) {
    let groups = this.committed.get(name);
    if (!groups) this.committed.set(name, (groups = new Map()));
    const end = this.ends.get(name);
    const before = groups.has(group) ? behind(end, groups.get(group) ?? 0) : 0;
    if (offset < 0) groups.delete(group);
    else groups.set(group, offset);
    this.#mark(group, (offset < 0 ? 0 : behind(end, offset)) - before, ms);
  }

  /** @param {string} group @param {number} by how much its lag grew @param {number} ms */
  #mark(group, by, ms) {
    const lag = (this.lags.get(group) ?? 0) + by;
    this.lags.set(group, lag);
    let points = this.points.get(group);
    if (!points) this.points.set(group, (points = []));
    const last = points.at(-1);
    if (last?.ms === ms) last.lag = lag;
    else if (last?.lag !== lag) points.push({ ms, lag });
  }
}

/** @param {number | undefined} end @param {number} offset @returns {number} 0 as long as nobody knows where the partition ends */
function behind(end, offset) {
  return Math.max((end ?? offset) - offset, 0);
}

/**
 * At most two for each pixel: the highest, and the last.
 * @param {Point[]} points @param {(ms: number) => number} x @returns {Point[]}
 */
function thinned(points, x) {
  if (points.length <= 2 * WIDTH) return points;
  /** @type {Map<number, {high: Point, last: Point}>} */
  const pixels = new Map();
  for (const point of points) {
    const at = Math.round(x(point.ms));
    const there = pixels.get(at);
    pixels.set(at, { high: there && there.high.lag >= point.lag ? there.high : point, last: point });
  }
  return [...pixels.values()].flatMap(({ high, last }) => (high === last ? [last] : [high, last]));
}

/**
 * A group's lag as steps of a line, and in words.
 * @param {{group: string, points: Point[], until: number}} props `until` is when it ends, in ms
 */
export function Lag({ group, points, until }) {
  const most = points.reduce((high, each) => Math.max(high, each.lag), 0);
  const [{ ms: from }, last] = [points[0], points[points.length - 1]];
  const drawn = thinned(points, across(from, until));
  const peak = points.find((each) => each.lag === most);
  const words = `${group}: lag ${last.lag} in all partitions since ${time(last.ms)}; at most ${most}, at ${time(peak?.ms ?? from)}`;
  return html`<figure class="lag">
    <figcaption>${words}</figcaption>
    <${Plot} words=${words} series=${[{ name: group, points: drawn.map(({ ms, lag }) => [ms, lag]) }]} from=${from} until=${until} low=${0} />
  </figure>`;
}
