import type { MessageContent } from '../mail/message.ts'

/** Roughly, as it is kept in memory; most of a large content is its attachments. */
export function contentBytes({ subject, body, attachments }: MessageContent): number {
  const attached = attachments.reduce((sum, { content }) => sum + content.length, 0)
  return subject.length + body.length + attached
}
