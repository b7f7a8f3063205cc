/**
 * Reads sender, texts and attachments of a message to a mailbox with mailparser. Content that
 * exceeds the limits on header sections and parts is left out. Contents of attachments are not
 * returned, because the message itself is stored.
 */
import { type AttachmentStream, type Headers, MailParser, type MessageText } from 'mailparser'
import type { ParsedAddress } from '../address/address.ts'
import { readMailboxes } from '../address/parsed-mailboxes.ts'
import { MAX_HEADER_BYTES } from '../limits.ts'
import { readEntities, readText } from '../parse/entity.ts'
import { boundedLine } from './header.ts'
import { makeSafeHtml } from './safe-html.ts'

export type IncomingAttachment = {
  filename: string | null
  /** In lower case. */
  contentType: string
  sizeBytes: number
  contentId: string | null
  isInline: boolean
}

export type IncomingMail = {
  /** The first valid mailbox of From; null without one. */
  from: { address: ParsedAddress; name: string | null } | null
  replyTo: ParsedAddress | null
  /** Sanitised; null without an HTML part. */
  html: string | null
  text: string | null
  attachments: IncomingAttachment[]
  /** A limit was exceeded, and content was left out. */
  isPartial: boolean
}

const MAX_PARTS = 300
const MAX_TEXT_LENGTH = 1_000_000
const MAX_ATTACHMENTS = 100
const MAX_NAME_LENGTH = 255

const PARSER_OPTIONS = {
  maxChildNodes: MAX_PARTS,
  maxHeadSize: MAX_HEADER_BYTES,
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipTextLinks: true,
  skipImageLinks: true,
}

/** Never rejects, for any octets. */
export function readIncoming(raw: Buffer): Promise<IncomingMail> {
  const mail: IncomingMail = {
    from: null,
    replyTo: null,
    html: null,
    text: null,
    attachments: [],
    isPartial: false,
  }
  return new Promise((resolve) => {
    const parser = new MailParser(PARSER_OPTIONS)
    parser.on('headers', (headers: Headers) => setHeaders(mail, headers))
    parser.on('data', (data: AttachmentStream | MessageText) => {
      if (data.type === 'attachment') addAttachment(mail, data)
      else setText(mail, data)
    })
    parser.on('error', () => resolve(withFirstText(mail, raw)))
    parser.on('end', () => resolve(mail))
    parser.end(raw)
  })
}

/** Adds at least the first text of a message that has too many parts. */
function withFirstText(mail: IncomingMail, raw: Buffer): IncomingMail {
  const first = readEntities(raw).find(({ type }) => /^text\/(?:plain|html)$/.test(type))
  const text = mail.text ?? (first === undefined ? null : readText(first).toWellFormed())
  return { ...mail, text, isPartial: true }
}

function setHeaders(mail: IncomingMail, headers: Headers): void {
  const from = headers.get('from') as Parameters<typeof readMailboxes>[0]
  const replyTo = headers.get('reply-to') as Parameters<typeof readMailboxes>[0]
  mail.from = readMailboxes(from)[0] ?? null
  mail.replyTo = readMailboxes(replyTo)[0]?.address ?? null
}

function setText(mail: IncomingMail, { html, text }: MessageText): void {
  const isLong = [html, text].some(
    (part) => typeof part === 'string' && part.length > MAX_TEXT_LENGTH,
  )
  if (typeof html === 'string' && html !== '') mail.html = makeSafeHtml(html)
  if (typeof text === 'string') mail.text = text.slice(0, MAX_TEXT_LENGTH).trimEnd().toWellFormed()
  mail.isPartial ||= isLong
}

function addAttachment(mail: IncomingMail, part: AttachmentStream): void {
  const attachment: IncomingAttachment = {
    filename: part.filename ? boundedLine(part.filename).slice(0, MAX_NAME_LENGTH) : null,
    contentType: boundedLine(part.contentType).slice(0, MAX_NAME_LENGTH).toLowerCase(),
    sizeBytes: 0,
    contentId: part.cid ? boundedLine(part.cid).slice(0, MAX_NAME_LENGTH) : null,
    isInline: part.contentDisposition === 'inline' || part.related === true,
  }
  if (mail.attachments.length < MAX_ATTACHMENTS) mail.attachments.push(attachment)
  else mail.isPartial = true
  part.content.on('data', (chunk: Buffer) => {
    attachment.sizeBytes += chunk.length
  })
  part.content.on('end', () => part.release())
}
