import { html, useRef, useState } from "./html.js";
import { before } from "./recording.js";
import { lineOf } from "./source.js";
import { time, toldTogether, visible } from "./words.js";

/**
 * @typedef {import("./recording.js").Recording} Recording
 * @typedef {import("./recording.js").Row} Row
 */

const HEIGHT = 34;
/** From so many px on it is a stretch, and no click. */
const DRAG = 4;
export const SPEEDS = [1, 2, 5, 10, 100];

/**
 * What happened, from left to right in the order in which it happened, and the moment that is shown.
 * @param {{recording: Recording, number: number, live: boolean, playing: boolean, speed: number, width: number,
 *   until: number, canFollow: boolean, goTo: (number: number) => void, goToTime: (ms: number) => void, follow: () => void,
 *   play: () => void, setSpeed: (speed: number) => void, oldest: number, newest: number, stretch: number[] | null,
 *   brush: (first: number, last: number) => void, forget: () => void}} props
 *   `until` is the number of the last event while events are loaded, which can't be looked at one by one then; else 0;
 *   `oldest` is that of the first one that can be fetched if the page doesn't have all, and `newest` of the last one;
 *   `stretch` limits what lists have
 */
export function Timeline(props) {
  const { recording, number, until, live, playing, speed, width, canFollow, goTo, goToTime, follow, play, setSpeed } = props;
  const { oldest, newest, stretch, brush, forget } = props;
  const { first, end, notable } = recording;
  const room = Math.max(width - 16, 40);
  const x = (/** @type {number} */ at) => 8 + ((at - first) / Math.max(end - first, 1)) * room;
  const next = before(notable, number + 1);
  const current = notable[next - 1];
  const earlier = stepBefore(recording, number);
  const later = stepAfter(recording, number);
  const words = current ? `${current.back ? "⤺ back: " : ""}${visible(inWords(current, number))}` : "Nothing has changed yet.";
  const [wrong, setWrong] = useState("");
  const type = (/** @type {string} */ text) => {
    if (!text.trim()) return setWrong("");
    const ms = timeOfDay(text, recordingTime(recording, number));
    setWrong(ms === null ? "write a time such as 10:02:03.250" : "");
    if (ms !== null) goToTime(ms);
  };
  const dragged = useRef(/** @type {number | null} */ (null));
  const at = (/** @type {PointerEvent} */ event) => Math.min(Math.max(Math.round(first + ((event.offsetX - 8) / room) * (end - first)), first), end);
  const down = (/** @type {any} */ event) => {
    if (until > 0) return;
    dragged.current = event.offsetX;
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const move = (/** @type {any} */ event) => {
    const from = dragged.current;
    if (from === null || Math.abs(event.offsetX - from) < DRAG) return;
    const there = Math.round(first + ((from - 8) / room) * (end - first));
    brush(Math.max(Math.min(there, at(event)), first), Math.min(Math.max(there, at(event)), end));
  };
  const up = (/** @type {any} */ event) => {
    if (dragged.current !== null && Math.abs(event.offsetX - dragged.current) < DRAG) goTo(at(event));
    dragged.current = null;
  };
  return html`<section class="timeline" aria-label="timeline">
    <div class="controls">
      <button type="button" onClick=${() => goTo(earlier)} disabled=${!earlier || until > 0} title="to the event before (,)">‹ step</button>
      <button type="button" class="play" onClick=${play} disabled=${until > 0} title="play or pause (space)" aria-pressed=${playing}>${playing ? "pause" : "▶ play"}</button>
      <button type="button" onClick=${() => goTo(later)} disabled=${!later || until > 0} title="to the next event (.)">step ›</button>
      ${canFollow && html`<button type="button" class="follow" onClick=${follow} aria-pressed=${live} title="follow what happens now (l)">● live</button>`}
      <label>speed <select value=${speed} onChange=${(/** @type {any} */ event) => setSpeed(Number(event.currentTarget.value))}>
        ${SPEEDS.map((each) => html`<option value=${each}>${each}×</option>`)}
      </select></label>
      <label>time <input type="text" class="time-of-day" size="12" placeholder="10:02:03.250" disabled=${until > 0} title="the time of day to go to, in UTC"
        onChange=${(/** @type {any} */ event) => type(event.currentTarget.value)} /></label>
      ${wrong && html`<span class="wrong" role="alert">${wrong}</span>`}
      <output class="moment">${number ? `${time(recordingTime(recording, number))} · event ${number} of ${until === Infinity ? "…" : until || end}` : "nothing yet"}</output>
      <button type="button" disabled=${until > 0} onClick=${() => brush(number, stretch && stretch[1] > number ? stretch[1] : end)} title="lists begin with this moment">from here</button>
      <button type="button" disabled=${until > 0} onClick=${() => brush(stretch && stretch[0] < number ? stretch[0] : first, number)} title="lists end with this moment">to here</button>
      ${stretch && html`<span class="stretched">${`only ${time(recordingTime(recording, stretch[0]))} to ${time(recordingTime(recording, stretch[1]))}, events ${stretch[0]} to ${stretch[1]}`}</span>
        <button type="button" onClick=${() => save(recording, stretch[0], stretch[1])} title="as a file that mockbroker view opens">save</button>
        <button type="button" onClick=${forget}>all</button>`}
    </div>
    ${oldest > 0 && html`<label class="whole">whole history <input type="range" min=${oldest} max=${newest} value=${number} title="older events are fetched from the cluster"
      onChange=${(/** @type {any} */ event) => goTo(Number(event.currentTarget.value))} /></label>`}
    <svg width=${width} height=${HEIGHT} class="ticks" aria-hidden="true" onPointerDown=${down} onPointerMove=${move} onPointerUp=${up}>
      ${stretch && html`<rect class="stretch" x=${x(Math.max(stretch[0], first))} width=${Math.max(x(Math.min(stretch[1], end)) - x(Math.max(stretch[0], first)), 2)} y="2" height="30" />`}
      <line x1="8" x2=${8 + room} y1="22" y2="22" class="axis" />
      ${ticks(notable, x).map((each) => html`<g class="tick ${kindOf(each.row)}"><title>${inWords(each.row)}</title>
        <line x1=${each.x} x2=${each.x} y1="8" y2="26" /></g>`)}
      <line x1=${x(number)} x2=${x(number)} y1="2" y2="32" class="now" />
    </svg>
    <input type="range" aria-label="moment" aria-valuetext=${current ? words : "the beginning"}
      min=${first} max=${end} value=${number} disabled=${until > 0} onInput=${(/** @type {any} */ event) => goTo(Number(event.currentTarget.value))} />
    <p class="current" role="status">${words}</p>
  </section>`;
}

/** @param {Row} row @param {number} [number] of the event up to which it is told @returns {string} with all that has the same cause */
function inWords(row, number = Infinity) {
  const step = (row.step ?? [row]).filter(({ event, notable }) => notable && event.number <= number);
  return toldTogether(step.map(({ event }) => event));
}

/** @param {Row} row @returns {number} the event with which all is over that has the same cause */
function endOf(row) {
  return row.step?.findLast(({ notable }) => notable)?.event.number ?? row.event.number;
}

/** @param {Recording} recording @param {number} number @returns {number} of the last event of the step before; 0 if there is none */
export function stepBefore({ notable }, number) {
  let index = before(notable, number) - 1;
  while (index >= 0 && endOf(notable[index]) >= number) index -= 1;
  return index < 0 ? 0 : endOf(notable[index]);
}

/** @param {Recording} recording @param {number} number @returns {number} of the last event of the next step; 0 if there is none */
export function stepAfter({ notable }, number) {
  const next = notable[before(notable, number + 1)];
  return next ? endOf(next) : 0;
}

/**
 * A stretch as a file for whoever looks into it, which begins with a keyframe.
 * @param {Recording} recording @param {number} first @param {number} last numbers of events
 */
function save(recording, first, last) {
  const head = JSON.stringify({ schema: "mockbroker-trace", version: 2 });
  const lines = [head, ...recording.stretch(first, last).map(lineOf), ""];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\n")], { type: "application/x-ndjson" }));
  link.download = `events-${first}-${last}.jsonl`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/**
 * @param {string} text hours and minutes, and what else is known; the rest is 0
 * @param {number} near a moment of the same day in UTC, in ms
 * @returns {number | null} in ms, null if it is no time of day
 */
export function timeOfDay(text, near) {
  const found = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,3}))?)?$/.exec(text.trim());
  if (!found) return null;
  const [hours, minutes, seconds] = found.slice(1, 4).map((each) => Number(each ?? 0));
  if (hours > 23 || minutes > 59 || seconds > 59) return null;
  return new Date(near).setUTCHours(hours, minutes, seconds, Number((found[4] ?? "").padEnd(3, "0")));
}

/** @param {Recording} recording @param {number} number */
export function recordingTime(recording, number) {
  const { events } = recording;
  const index = Math.min(Math.max(number - recording.first, 0), events.length - 1);
  return events[index]?.time_ms ?? recording.last.timeMs;
}

/** @param {Row} row */
function kindOf(row) {
  return row.back ? "back" : row.event.kind;
}

/**
 * At most one a pixel; what is rarer wins.
 * @param {Row[]} notable @param {(number: number) => number} x
 */
function ticks(notable, x) {
  /** @type {Map<number, Row>} */
  const found = new Map();
  for (const row of notable) {
    const at = Math.round(x(row.event.number));
    const there = found.get(at);
    if (!there || weight(row) >= weight(there)) found.set(at, row);
  }
  return [...found].map(([at, row]) => ({ x: at, row }));
}

/** @param {Row} row */
function weight(row) {
  if (row.back) return 9;
  return { truncation: 8, leader: 7, "log-start": 6, policy: 5, broker: 4, topic: 3 }[row.event.kind] ?? 0;
}
