import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.js";

const MORE = 4;

/**
 * A list of which only what is seen is drawn. With `follow`, it stays at its end until somebody scrolls up. Whenever
 * `target` changes, entry `to` is scrolled to, if it isn't seen.
 * @param {{count: number, height: number, render: (index: number) => any, label: string, follow?: boolean,
 *   target?: string, to?: number, class?: string}} props
 */
export function List({ count, height, render, label, follow = false, target = "", to = -1, class: name = "" }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  /** Where it is scrolled to, or will be. */
  const top = useRef(0);
  const [, setMoved] = useState(0);
  const [room, setRoom] = useState(600);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setRoom(element.clientHeight));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const atEnd = useRef(true);
  const before = useRef(0);
  // Its end is drawn at once: to hear of the scrolling first would draw twice.
  if (follow && atEnd.current) top.current = Math.max(0, count * height - room);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    if (follow && atEnd.current) element.scrollTop = count * height;
    before.current = element.scrollTop;
  }, [follow, count, room]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || to < 0) return;
    const seen = to * height >= element.scrollTop && (to + 1) * height <= element.scrollTop + element.clientHeight;
    if (!seen) element.scrollTop = to * height;
  }, [target]);
  const first = Math.max(0, Math.floor(top.current / height) - MORE);
  const last = Math.min(count, Math.ceil((top.current + room) / height) + MORE);
  const shown = [];
  for (let index = first; index < last; index++) shown.push(render(index));
  return html`<div
    ref=${box}
    class="list ${name}"
    role="list"
    aria-label=${label}
    tabindex="0"
    onScroll=${(/** @type {any} */ event) => {
      const { scrollTop, clientHeight, scrollHeight } = event.currentTarget;
      // The list may have grown since it was scrolled: who has not moved up is still at its end.
      if (scrollTop + clientHeight >= scrollHeight - height) atEnd.current = true;
      else if (scrollTop < before.current) atEnd.current = false;
      before.current = scrollTop;
      if (scrollTop === top.current) return;
      top.current = scrollTop;
      setMoved((times) => times + 1);
    }}
  >
    <div style=${{ height: `${count * height}px`, position: "relative" }} role="presentation">
      <div style=${{ position: "absolute", top: `${first * height}px`, left: 0, right: 0 }} role="presentation">${shown}</div>
    </div>
  </div>`;
}
