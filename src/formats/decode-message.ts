/**
 * Decodes a message that this server composed, for display: bodies as text, embedded images in place
 * of their `cid:` URLs (RFC 2392), attachments as octets.
 */
import { type AddressObject, simpleParser } from 'mailparser'

export type DecodedMessage = {
  from: string
  to: string
  subject: string
  /** The HTML of the message; null if the message has no HTML part. */
  html: string | null
  text: string | null
  attachments: { filename: string; contentType: string; content: Buffer }[]
}

export async function decodeMessage(raw: Buffer): Promise<DecodedMessage> {
  const mail = await simpleParser(raw, { skipHtmlToText: true, skipTextToHtml: true })
  const files = mail.attachments.filter(({ related }) => related !== true)
  return {
    from: mail.from?.text ?? '',
    to: addressesOf(mail.to),
    subject: mail.subject ?? '',
    html: typeof mail.html === 'string' ? mail.html : null,
    // For a message with HTML only, the parser returns blank text.
    text: mail.text?.trim() ? mail.text : null,
    attachments: files.map(({ filename, contentType, content }, index) => ({
      filename: filename ?? `attachment-${index + 1}`,
      contentType,
      content,
    })),
  }
}

function addressesOf(field: AddressObject | AddressObject[] | undefined): string {
  return [field ?? []]
    .flat()
    .map(({ text }) => text)
    .join(', ')
}
