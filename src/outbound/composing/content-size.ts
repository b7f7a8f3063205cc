import { attachedBytes } from '../../mail/compose/attachment.ts'
import type { MessageContent } from '../../mail/compose/build-message.ts'

/** Roughly, as it is kept in memory; most of a large content is its attachments. */
export function contentBytes({ subject, body, text, attachments }: MessageContent): number {
  const attached = attachedBytes(attachments)
  return subject.length + body.length + (text?.length ?? 0) + attached
}

/** What the dearest texts take, and as much again. */
const MS_A_MEGABYTE = 250

/** How much longer than usual messages one of this content may take to make. */
export function patienceMs(content: MessageContent): number {
  return (contentBytes(content) / 1_000_000) * MS_A_MEGABYTE
}
