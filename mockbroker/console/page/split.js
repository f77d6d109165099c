import { html, useEffect, useRef, useState } from "./html.js";

/** How much of the window partitions may have, in percent, and how far an arrow key moves that. */
const LEAST = 15;
const MOST = 85;
const STEP = 5;
const USUAL = 50;

/** @param {number} share */
function within(share) {
  return Math.min(Math.max(Math.round(share), LEAST), MOST);
}

/**
 * Two parts side by side, and between them what moves their border: dragged, by the arrow keys, and back by a double click.
 * The browser keeps where it is.
 * @param {{label: string, children: any}} props
 */
export function Split({ label, children }) {
  const [share, setShare] = useState(() => within(Number(localStorage.getItem("share") ?? USUAL) || USUAL));
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => localStorage.setItem("share", `${share}`), [share]);
  const move = (/** @type {any} */ event) => {
    const { left, width } = /** @type {HTMLElement} */ (box.current).getBoundingClientRect();
    if (event.currentTarget.hasPointerCapture(event.pointerId)) setShare(within(((event.clientX - left) / width) * 100));
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    const to = { ArrowLeft: share - STEP, ArrowRight: share + STEP, Home: LEAST, End: MOST }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setShare(within(to));
  };
  const [first, second] = children;
  return html`<main ref=${box} style=${{ "--share": `${share}%` }}>
    ${first}
    <div role="separator" class="border" tabindex="0" aria-orientation="vertical" aria-label=${label} aria-valuenow=${share} aria-valuemin=${LEAST} aria-valuemax=${MOST}
      title="drag, or press ← and →; a double click puts it back" onKeyDown=${key} onDblClick=${() => setShare(USUAL)} onPointerMove=${move}
      onPointerDown=${(/** @type {any} */ event) => event.currentTarget.setPointerCapture(event.pointerId)} />
    ${second}
  </main>`;
}
