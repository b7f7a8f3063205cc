/**
 * A message that this server composed, decoded for people: bodies as text, pictures of the message
 * in place of their `cid:` addresses (RFC 2392), attachments as octets.
 */
import { type AddressObject, simpleParser } from 'mailparser'

export type DecodedMessage = {
  from: string
  to: string
  subject: string
  /** Null without such a part. */
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
    // The parser gives an HTML message a blank text.
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
