import { html, useEffect, useState } from "./html.js";
import { ask } from "./source.js";

/**
 * Values of records by an Avro schema that somebody has chosen. The server decodes them.
 *
 * @typedef {{values: Map<number, string>, picker: any}} Decoded
 *   `values` are what is told instead, by offset; `picker` is where the schema is chosen
 */

/**
 * @param {{topic: string, partition: number} | undefined} place @param {number} offset @param {number} limit which records
 * @param {unknown} listed what changes with them
 * @returns {Decoded}
 */
export function useAvro(place, offset, limit, listed) {
  const [file, setFile] = useState(/** @type {{name: string, text: string} | null} */ (null));
  const [found, setFound] = useState({ values: /** @type {Map<number, string>} */ (new Map()), error: "" });
  useEffect(() => {
    if (!file || !place) return setFound({ values: new Map(), error: "" });
    let wanted = true;
    decoded(file.text, { topic: place.topic, partition: place.partition, offset, limit })
      .then((values) => wanted && setFound({ values, error: "" }))
      .catch((error) => wanted && setFound({ values: new Map(), error: error.message }));
    return () => {
      wanted = false;
    };
  }, [file, listed]);
  const pick = async (/** @type {any} */ event) => {
    const [chosen] = event.currentTarget.files;
    setFile(chosen ? { name: chosen.name, text: await chosen.text() } : null);
  };
  const picker = html`<label>Avro schema <input type="file" class="schema" accept=".avsc,.json" onChange=${pick} /></label>
    ${found.error && html`<span class="wrong" role="alert">${found.error}</span>`}`;
  return { values: found.values, picker };
}

/**
 * @param {string} text of the schema @param {{topic: string, partition: number, offset: number, limit: number}} place
 * @returns {Promise<Map<number, string>>} Error says what is wrong with the schema
 */
async function decoded(text, place) {
  let schema;
  try {
    schema = JSON.parse(text);
  } catch {
    throw new Error("this file is not JSON, so it is no Avro schema");
  }
  const headers = { "content-type": "application/json" };
  const answer = await ask("/records/avro", { method: "POST", headers, body: JSON.stringify({ schema, ...place }) });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return new Map(told.map((/** @type {any} */ each) => [each.offset, each.error ?? each.value ?? "null"]));
}
