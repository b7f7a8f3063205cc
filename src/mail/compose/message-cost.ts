/**
 * How long a message takes to make, told from its content before anybody makes it. The figures are
 * microseconds, of the dearest texts found rather than of usual ones: a machine of 2026 needs about
 * half of them, and a fifth for the second message of a content. Counting is linear, stops as soon as
 * the limit is passed, and is not done at all for what is small.
 */
import { attachedBytes } from './attachment.ts'
import type { MessageContent } from './build-message.ts'

/** What may be made where others wait: some 50 ms of work at most. */
export const MAX_QUICK_COST_US = 50_000

const CHARACTER_US = 0.2
/** Of markup. */
const TAG_US = 1
/** Found, read, numbered and replaced by an address that counts clicks. */
const LINK_US = 15
/** `{{` or `{%`: parsed, filled in. */
const MARKER_US = 8
/** Base64, decoded, encoded again, hashed; a letter waits in memory for its receiver, too. */
const ATTACHED_CHARACTER_US = 0.02
/** However it is written, a text of so many characters is quick to make. */
const MAX_UNCOUNTED_LENGTH = 16_384

/** Of one message of this content, as far as it is the content's. */
export function costOfContent({ subject, body, text, attachments }: MessageContent): number {
  const texts = costOfText(body) + costOfText(text ?? '') + costOfText(subject)
  return texts + attachedBytes(attachments) * ATTACHED_CHARACTER_US
}

/** At least `MAX_QUICK_COST_US` where it is not quick; how much beyond is not counted out. */
export function costOfText(text: string): number {
  let cost = text.length * CHARACTER_US
  if (text.length <= MAX_UNCOUNTED_LENGTH || cost > MAX_QUICK_COST_US) return cost
  cost += TAG_US * count(text, /</g, (MAX_QUICK_COST_US - cost) / TAG_US)
  cost += MARKER_US * count(text, /\{[{%]/g, (MAX_QUICK_COST_US - cost) / MARKER_US)
  return cost + LINK_US * count(text, /href/gi, (MAX_QUICK_COST_US - cost) / LINK_US)
}

/** Stops one beyond `max`. */
function count(text: string, pattern: RegExp, max: number): number {
  let found = 0
  while (found <= max && pattern.test(text)) found += 1
  return found
}
