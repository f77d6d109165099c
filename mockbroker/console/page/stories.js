import { html } from "./html.js";

/**
 * @typedef {{file: string, title: string, about: string, partition: string, captions: {number: number, text: string}[]}} Story
 */

/** @param {Story} story @param {number} number @returns {string} the last caption up to event `number` */
export function captionAt(story, number) {
  return story.captions.findLast((each) => each.number <= number)?.text ?? story.about;
}

/** @param {{stories: Story[], chosen: Story | null, tell: (story: Story) => void}} props */
export function Stories({ stories, chosen, tell }) {
  if (!stories.length) return html`<p class="nothing">No stories came with this page.</p>`;
  return html`<ul class="stories">
    ${stories.map(
      (each) => html`<li>
        <button type="button" onClick=${() => tell(each)} aria-pressed=${each === chosen}>${each.title}</button>
        <p>${each.about}</p>
      </li>`,
    )}
  </ul>`;
}
