/** Reads the content of received mail, for the data of its event and for the activity feed. */
import type { Content } from '../../../store/schema/messages.ts'

export type ReceivedContent = Pick<Content, 'body' | 'isText' | 'text'>

/**
 * `body`: the sanitized HTML, or the text if there is no HTML. `text`: the plain text; null if
 * there is none. Both are null once retention has cleared the content.
 */
export function toReceivedData(content: ReceivedContent | null): {
  body: string | null
  text: string | null
} {
  if (content === null) return { body: null, text: null }
  const { body, isText, text } = content
  return { body, text: isText ? body : text }
}
