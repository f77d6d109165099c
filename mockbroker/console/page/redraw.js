import { useMemo, useState } from "./html.js";

const DRAW_MS = 100;
/** The same after more events than MANY at once, which nobody reads one by one: drawing is most of what a page costs. */
const DRAW_MANY_MS = 250;
const MANY = 50;

/**
 * Draws again, at once, but no more often than is pleasant to look at, and not while nobody looks.
 * @returns {((events?: number) => void) & {now: () => Promise<void>}} `now` draws without waiting, and ends once that can be seen
 */
export function useRedraw() {
  const [, setCount] = useState(0);
  return useMemo(() => {
    let wanted = false;
    let atMs = 0;
    let seen = 0;
    let pauseMs = DRAW_MS;
    let timer = 0;
    /** @type {(() => void)[]} */
    let waiting = [];
    const draw = () => {
      if (document.hidden) {
        document.addEventListener("visibilitychange", draw, { once: true });
        return;
      }
      pauseMs = seen > MANY ? DRAW_MANY_MS : DRAW_MS;
      wanted = false;
      seen = 0;
      atMs = performance.now();
      setCount((count) => count + 1);
      const told = waiting;
      waiting = [];
      if (told.length) requestAnimationFrame(() => setTimeout(() => told.forEach((tell) => tell())));
    };
    const redraw = (events = 0) => {
      seen += events;
      if (wanted) return;
      wanted = true;
      timer = setTimeout(draw, Math.max(atMs + pauseMs - performance.now(), 0));
    };
    const now = () =>
      new Promise((/** @type {(nothing: void) => void} */ resolve) => {
        waiting.push(resolve);
        clearTimeout(timer);
        wanted = true;
        draw();
      });
    return Object.assign(redraw, { now });
  }, []);
}
