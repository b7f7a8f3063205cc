/** Attachments of a message, before they are encoded. */
import type { Attachment } from './mime-part.ts'

/** As a caller submits it: `content` is base64. */
export type FileAttachment = Omit<Attachment, 'content'> & { content: string }

/** As it is stored: `content` is base64, or its octets in chunks. */
export type SourceAttachment = Omit<Attachment, 'content'> & {
  content: string | readonly Uint8Array[]
}

export function decodeAttachment({ content, ...rest }: SourceAttachment): Attachment {
  const isText = typeof content === 'string'
  return { ...rest, content: isText ? Buffer.from(content, 'base64') : Buffer.concat(content) }
}

/** Stored size of all attachments in octets; base64 is a third larger than the file. */
export function attachedBytes(attachments: readonly SourceAttachment[]): number {
  return attachments.reduce((sum, { content }) => sum + bytesOf(content), 0)
}

function bytesOf(content: SourceAttachment['content']): number {
  if (typeof content === 'string') return content.length
  return content.reduce((sum, chunk) => sum + chunk.length, 0)
}
