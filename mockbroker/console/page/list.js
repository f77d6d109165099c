import { html, useEffect, useRef, useState } from "./html.js";

const MORE = 4;

/**
 * A list of which only what is seen is drawn. With `follow`, it stays at its end until somebody scrolls up.
 * @param {{count: number, height: number, render: (index: number) => any, label: string, follow?: boolean, class?: string}} props
 */
export function List({ count, height, render, label, follow = false, class: name = "" }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [top, setTop] = useState(0);
  const [room, setRoom] = useState(600);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setRoom(element.clientHeight));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const atEnd = useRef(true);
  useEffect(() => {
    if (follow && atEnd.current && box.current) box.current.scrollTop = count * height;
  }, [follow, count]);
  const first = Math.max(0, Math.floor(top / height) - MORE);
  const last = Math.min(count, Math.ceil((top + room) / height) + MORE);
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
      atEnd.current = scrollTop + clientHeight >= scrollHeight - height;
      setTop(scrollTop);
    }}
  >
    <div style=${{ height: `${count * height}px`, position: "relative" }} role="presentation">
      <div style=${{ position: "absolute", top: `${first * height}px`, left: 0, right: 0 }} role="presentation">${shown}</div>
    </div>
  </div>`;
}
