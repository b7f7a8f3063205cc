import type { SourceAttachment } from './attachment.ts'

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
}
