import type { SourceAttachment } from './attachment.ts'

/**
 * The fields To and Cc that all recipients of a message see; null: the message has no such field.
 */
export type RecipientFields = { to: string | null; cc: string | null }

/** The characters of To and Cc, which every message of the content has. */
export function recipientsLength(fields: RecipientFields | undefined): number {
  return (fields?.to?.length ?? 0) + (fields?.cc?.length ?? 0)
}

/** The content that all recipients of a send request, or of a template version, share. */
export type MessageContent = {
  id: string
  subject: string
  body: string
  /** `body` is plain text, and the message has no HTML part. */
  isText: boolean
  /** The template of the plain-text part beside the HTML; null: the text is made from the HTML. */
  text: string | null
  attachments: readonly SourceAttachment[]
  /** Subject, body and text are sent unchanged: they are no templates and get no footer. */
  isLiteral?: boolean
  /** To and Cc of every message; if absent, each recipient sees only its own address in To. */
  recipientFields?: RecipientFields
}
