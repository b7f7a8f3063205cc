/**
 * Estimates how long a message takes to compose, from its content. The constants are the
 * microseconds of the most expensive texts that were found, not of usual texts: a machine of 2026
 * needs about half of them, and a fifth for the second message of a content. Counting is linear in
 * the text, stops when the limit is exceeded, and is skipped for small texts.
 */
import { attachedBytes } from './attachment.ts'
import { type MessageContent, recipientsLength } from './message-content.ts'

/** Work up to this cost (about 50 ms) may run on a thread where other work waits. */
export const MAX_QUICK_COST_US = 50_000

const CHARACTER_US = 0.2
/** The cost of one tag of HTML. */
const TAG_US = 1
/** The cost of one link: it is found, parsed, numbered and replaced by a tracking URL. */
const LINK_US = 15
/** The cost of one marker (`{{` or `{%`): it is parsed and filled in. */
const MARKER_US = 8
/**
 * The cost of one character of base64: it is decoded, encoded again, hashed, and kept in memory
 * until it is sent.
 */
const ATTACHED_CHARACTER_US = 0.02
/**
 * In texts up to this length, tags, markers and links are not counted: such texts are quick in any
 * case.
 */
const MAX_UNCOUNTED_LENGTH = 16_384

/**
 * The cost of one message of this content in microseconds, before the recipient's values are filled
 * in.
 */
export function costOfContent(content: MessageContent): number {
  const { subject, body, text, attachments, recipientFields } = content
  const recipients = recipientsLength(recipientFields) * CHARACTER_US
  const texts = costOfText(body) + costOfText(text ?? '') + costOfText(subject)
  return texts + recipients + attachedBytes(attachments) * ATTACHED_CHARACTER_US
}

/** The cost of a text in microseconds; beyond `MAX_QUICK_COST_US` the cost is a lower bound. */
export function costOfText(text: string): number {
  let cost = text.length * CHARACTER_US
  if (text.length <= MAX_UNCOUNTED_LENGTH || cost > MAX_QUICK_COST_US) return cost
  cost += TAG_US * count(text, /</g, (MAX_QUICK_COST_US - cost) / TAG_US)
  cost += MARKER_US * count(text, /\{[{%]/g, (MAX_QUICK_COST_US - cost) / MARKER_US)
  return cost + LINK_US * count(text, /href/gi, (MAX_QUICK_COST_US - cost) / LINK_US)
}

/** Counts the matches of `pattern`; stops after the first match beyond `max`. */
function count(text: string, pattern: RegExp, max: number): number {
  let found = 0
  while (found <= max && pattern.test(text)) found += 1
  return found
}
