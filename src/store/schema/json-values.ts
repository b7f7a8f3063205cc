/** The values of columns that hold JSON. */

export type ContactData = Record<string, unknown>

/** The result of the last check of a required DNS record. */
export type RecordFinding = {
  purpose: string
  state: 'found' | 'missing' | 'different' | 'unknown'
  found: string[]
}

export type FilterChange = {
  /** Epoch ms. */
  at: number
  membersBefore: number
  membersAfter: number
  filters: { field: string; operator: string }[]
}

/**
 * The meaning of an inbound recipient: decided at RCPT, used once the message is parsed. `digest`: the
 * digest, in hex, of the address that the email went to, if the token carries a digest.
 */
export type InboundRecipient =
  | { for: 'return-path'; address: string; emailId: string; digest?: string }
  | { for: 'unsubscribe'; address: string; emailId: string; digest?: string }
  | { for: 'mailbox'; address: string; projectId: string }
  | { for: 'server'; address: string }

/** The data for rendering an email: the contact's at acceptance, and the request's. */
export type Snapshot = {
  stored: Record<string, unknown>
  request: Record<string, unknown>
  /**
   * The contact that the email is rendered as, in place of its recipient: of a test of a campaign, and
   * of an email that a workflow sends to an address which its step names.
   */
  reader?: { id: string; email: string; subscribed: boolean }
}

/** `line` and `column` count from 1; null if they are unknown. */
export type StoredFault = {
  part: 'subject' | 'body' | 'text'
  line: number | null
  column: number | null
  message: string
}

export type AttachmentFacts = Pick<
  StoredAttachment,
  'filename' | 'contentType' | 'contentId' | 'disposition'
>

export type StoredAttachment = {
  filename: string
  contentType: string
  /** base64; empty when the octets are in chunks. */
  content: string
  /** The number of its chunks, which follow those of the attachments before it. */
  chunks?: number
  contentId: string | null
  /** `alternative`: another form of the text. */
  disposition: 'attachment' | 'inline' | 'alternative'
  /**
   * The content is the whole body of a signed or encrypted message; `fields` are its Content-* fields,
   * with their line ends, and `files` what a reader finds in it.
   */
  sealed?: { fields: string; files: readonly AttachmentFacts[] }
}
