import { useEffect, useState } from "./html.js";
import { Recording } from "./recording.js";
import { ask, file } from "./source.js";

/**
 * What happened before the events that the page keeps, or between them, where it was given summaries: the cluster has that
 * in a file, and the page fetches what is around the moment that is looked at.
 *
 * @typedef {{recording: Recording, loads: boolean, goToTime: (ms: number) => void}} Past
 */

/** So many events before and after a moment are fetched. */
const AROUND = 10_000;

/** @param {number} first @param {number} last numbers of events @returns {Promise<Recording>} */
async function fetched(first, last) {
  const found = new Recording(Infinity);
  const sink = {
    events: (/** @type {import("./model.js").Event[]} */ events) => events.forEach((each) => found.add(each)),
    until: () => {},
    status: () => {},
  };
  await file(`/trace/history?first=${first}&last=${last}`, sink);
  return found;
}

/**
 * @param {Recording} live what the page keeps @param {number} oldest the number of the first event that can be fetched
 * @param {number | null} at the moment that is looked at @param {number[] | null} stretch what lists have, if it is limited
 * @param {(number: number) => void} goTo
 * @returns {Past} the recording in which the moment is, and the whole stretch if that is around it
 */
export function usePast(live, oldest, at, stretch, goTo) {
  const [past, setPast] = useState(/** @type {Recording | null} */ (null));
  const within = stretch !== null && at !== null && at >= stretch[0] && at <= stretch[1];
  const [from, to] = within ? stretch : [at ?? 0, at ?? 0];
  const wanted = oldest > 0 && from >= oldest && from < live.whole ? from : 0;
  const there = past !== null && from >= past.first && to <= past.end;
  useEffect(() => {
    if (!wanted || there) return;
    let last = true;
    fetched(from - AROUND, to + AROUND).then((found) => last && setPast(found));
    return () => {
      last = false;
    };
  }, [wanted, to, there]);
  const goToTime = async (/** @type {number} */ ms) => {
    if (!oldest || oldest >= live.first || ms >= (live.events[0]?.time_ms ?? 0)) return goTo(live.numberAt(ms));
    const { moments } = await (await ask("/trace/moments")).json();
    const near = moments.findLast((/** @type {number[]} */ each) => each[1] <= ms) ?? moments[0];
    const found = await fetched(near[0] - AROUND, near[0] + AROUND);
    setPast(found);
    goTo(found.numberAt(ms));
  };
  return { recording: wanted && there ? past : live, loads: wanted > 0 && !there, goToTime };
}
