import { html, useEffect, useState } from "./html.js";
import { ask } from "./source.js";
import { Table } from "./tables.js";

/**
 * The bytes of the batch in which a record is, and what each of them means.
 *
 * @typedef {{base_offset: number, size: number, left_out: boolean,
 *   parts: {record: number | null, name: string, at: number, size: number, value: string, hex: string}[]}} Told
 */

/** @param {{topic: string, partition: number, offset: number, close: () => void}} props */
export function Batch({ topic, partition, offset, close }) {
  const [found, setFound] = useState(/** @type {{told: Told | null, error: string}} */ ({ told: null, error: "" }));
  useEffect(() => {
    let wanted = true;
    ask(`/topics/${encodeURIComponent(topic)}/partitions/${partition}/batches/${offset}`)
      .then(async (answer) => ({ ok: answer.ok, told: await answer.json() }))
      .then(({ ok, told }) => wanted && setFound(ok ? { told, error: "" } : { told: null, error: told.error }))
      .catch((error) => wanted && setFound({ told: null, error: String(error) }));
    return () => {
      wanted = false;
    };
  }, [topic, partition, offset]);
  const { told, error } = found;
  const rows = (told?.parts ?? []).map((each) => [
    each.at,
    each.size,
    each.record === null ? "batch" : `record ${each.record}`,
    each.name,
    each.value,
    (each.hex.match(/../g) ?? []).join(" ") + (each.hex.length / 2 < each.size ? " …" : ""),
  ]);
  return html`<section class="batch" aria-label="bytes of a batch">
    <div class="filters"><span>${told ? `The batch from offset ${told.base_offset} on has ${told.size} bytes${told.left_out ? `; these are the first parts of it` : ""}.` : error || "loading …"}</span>
      <button type="button" onClick=${close}>close</button></div>
    <${Table} title="Bytes of the batch" columns=${["at", "bytes", "of", "what", "value", "in hexadecimal"]} rows=${rows} nothing="" />
  </section>`;
}
