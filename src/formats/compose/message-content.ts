import type { SourceAttachment } from './attachment.ts'

/** To and Cc as all recipients of a message get them; null: the message goes without the field. */
export type RecipientFields = { to: string | null; cc: string | null }

/** Characters of To and Cc in each message of a content. */
export function recipientsLength(fields: RecipientFields | undefined): number {
  return (fields?.to?.length ?? 0) + (fields?.cc?.length ?? 0)
}

/** The content that the recipients of a request or of a template version share. */
export type MessageContent = {
  id: string
  subject: string
  body: string
  /** `body` is plain text, and the message has no HTML part. */
  isText: boolean
  /** The template of the text part beside HTML; null = the text is made from the HTML. */
  text: string | null
  attachments: readonly SourceAttachment[]
  /** Subject, body and text are sent as they are: they are no templates, and get no footer. */
  isLiteral?: boolean
  /** If absent, each recipient gets its own address in To. */
  recipientFields?: RecipientFields
}
