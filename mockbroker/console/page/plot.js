import { html } from "./html.js";
import { time } from "./words.js";

/**
 * @typedef {[number, number]} Point a time in ms and a value, which holds until the next one
 * @typedef {{name: string, points: Point[]}} Series
 */

export const WIDTH = 600;
export const LEFT = 50;
const RIGHT = 4;
const TOP = 12;
const BOTTOM = 16;
/** So many look different. */
const LOOKS = 4;

/** @param {number} from @param {number} until in ms @returns {(ms: number) => number} where a time is drawn */
export function across(from, until) {
  return (ms) => LEFT + ((ms - from) / Math.max(until - from, 1)) * (WIDTH - LEFT - RIGHT);
}

/**
 * Values over time, as steps of lines.
 * @param {{words: string, series: Series[], from: number, until: number, low?: number, height?: number, marks?: Point[]}} props
 *   `words` tell what is drawn, `from` and `until` are the times at its ends; the least value is `low`, or that of a point;
 *   `marks` are numbers at times
 */
export function Plot({ words, series, from, until, low: least, height = 90, marks = [] }) {
  const values = series.flatMap(({ points }) => points.map(([, value]) => value));
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const low = least ?? values.reduce((a, b) => Math.min(a, b), Infinity);
  const x = across(from, until);
  const y = (/** @type {number} */ value) => height - BOTTOM - ((value - low) / Math.max(high - low, 1)) * (height - TOP - BOTTOM);
  return html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label=${words}>
    <text x=${LEFT - 4} y=${y(high) + 4} text-anchor="end">${high}</text>
    ${high > low && html`<text x=${LEFT - 4} y=${y(low)} text-anchor="end">${low}</text>`}
    <line class="axis" x1=${LEFT} x2=${WIDTH - RIGHT} y1=${y(low)} y2=${y(low)} />
    ${marks.map(([ms, number]) => html`<g class="mark"><line x1=${x(ms)} x2=${x(ms)} y1=${TOP} y2=${height - BOTTOM} />
      <text x=${x(ms)} y=${TOP - 2} text-anchor="middle">${number}</text></g>`)}
    ${series.map(({ points }, index) => html`<path class="series-${index % LOOKS}"
      d="${points.map(([ms, value], place) => `${place ? `H${x(ms)}V` : `M${x(ms)} `}${y(value)}`).join("")}H${x(until)}" />`)}
    <text x=${LEFT} y=${height - 2}>${time(from)}</text>
    <text x=${WIDTH - RIGHT} y=${height - 2} text-anchor="end">${time(until)}</text>
  </svg>
  ${series.length > 1 && html`<ul class="series">${series.map(({ name }, index) => html`<li><svg width="24" height="10" aria-hidden="true"><path class="series-${index % LOOKS}" d="M0 5H24" /></svg> ${name}</li>`)}</ul>`}`;
}
