import { useState } from "./html.js";

/**
 * What is shown is in the address, after its #, so that a copied address opens the same view.
 */

/** Browsers refuse to write an address too often, as play would. */
const LATER_MS = 200;

/** @type {URLSearchParams | null} */
let parts = null;
let timer = 0;

/** @returns {URLSearchParams} */
function current() {
  if (parts) return parts;
  parts = new URLSearchParams(location.hash.slice(1));
  const given = parts.get("token");
  if (given) {
    sessionStorage.setItem("token", given);
    parts.delete("token");
    write();
  }
  // Who pastes another address wants to see what it says; the page itself writes without this event.
  addEventListener("hashchange", () => location.reload());
  return parts;
}

function write() {
  clearTimeout(timer);
  timer = 0;
  const text = `${parts ?? ""}`;
  history.replaceState(null, "", location.pathname + location.search + (text && `#${text}`));
}

/** @returns {string | null} the control token, which the address gives once as `token`; it is not kept there */
export function token() {
  current();
  return sessionStorage.getItem("token");
}

/**
 * As `useState`, of a text that is in the address unless it is as `usual`.
 * @param {string} name @param {string} [usual] @returns {[string, (to: string) => void]}
 */
export function useAddress(name, usual = "") {
  const [value, setValue] = useState(() => current().get(name) ?? usual);
  const set = (/** @type {string} */ to) => {
    setValue(to);
    if (to === usual) current().delete(name);
    else current().set(name, to);
    timer ||= setTimeout(write, LATER_MS);
  };
  return [value, set];
}

/**
 * The same of what is true or false, and usually false.
 * @param {string} name @returns {[boolean, (to: boolean) => void]}
 */
export function useMark(name) {
  const [value, set] = useAddress(name);
  return [value !== "", (to) => set(to ? "yes" : "")];
}
