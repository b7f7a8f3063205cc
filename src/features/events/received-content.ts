/** What received mail says, as the data of its event and the feed show it. */
import type { Content } from '../../store/schema/messages.ts'

export type ReceivedContent = Pick<Content, 'body' | 'isText' | 'text'>

/**
 * `body`: its HTML, made safe, else its text. `text`: its plain text, null where it brought none. Both
 * are null once retention cleared them.
 */
export function toReceivedData(content: ReceivedContent | null): {
  body: string | null
  text: string | null
} {
  if (content === null) return { body: null, text: null }
  const { body, isText, text } = content
  return { body, text: isText ? body : text }
}
