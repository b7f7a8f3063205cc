/** The forms of an attachment before it is encoded for a message. */
import type { Attachment } from './mime-part.ts'

/** An attachment in a send request: `content` is base64. */
export type FileAttachment = Omit<Attachment, 'content'> & { content: string }

/** A stored attachment: `content` is base64, or the octets in chunks. */
export type SourceAttachment = Omit<Attachment, 'content'> & {
  content: string | readonly Uint8Array[]
}

export function decodeAttachment({ content, ...rest }: SourceAttachment): Attachment {
  const isText = typeof content === 'string'
  return { ...rest, content: isText ? Buffer.from(content, 'base64') : Buffer.concat(content) }
}

/**
 * The octets that all attachments take in the store. An attachment in base64 counts a third more
 * than its file.
 */
export function attachedBytes(attachments: readonly SourceAttachment[]): number {
  return attachments.reduce((sum, { content }) => sum + bytesOf(content), 0)
}

function bytesOf(content: SourceAttachment['content']): number {
  if (typeof content === 'string') return content.length
  return content.reduce((sum, chunk) => sum + chunk.length, 0)
}
