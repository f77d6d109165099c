import { useEffect, useState } from "./html.js";
import { ask } from "./source.js";

const EVERY_MS = 1000;

/**
 * What the control API answers at a path, asked again every second; `usual` until then, and if it fails.
 * @template T
 * @param {string} path @param {T} usual @returns {T}
 */
export function usePolled(path, usual) {
  const [found, setFound] = useState(usual);
  useEffect(() => {
    const look = () =>
      ask(path)
        .then((answer) => (answer.ok ? answer.json() : usual))
        .then(setFound)
        .catch(() => setFound(usual));
    look();
    const timer = setInterval(look, EVERY_MS);
    return () => clearInterval(timer);
  }, [path]);
  return found;
}
