/**
 * Converts a message from SMTP submission (RFC 6409) to the data of a send request: one sender, the
 * names of recipients, subject, body, files and header fields. If the message has HTML, this
 * becomes the body, with the plain text as its alternative. Files keep their octets, and inline
 * images the ids by which the HTML refers to them. The result is plain data, which can cross a
 * thread. A message that cannot be sent gives a refusal with the SMTP reply.
 */

import { hasCode } from '../../base/errors.ts'
import type { ParsedAddress } from '../address/address.ts'
import type { NamedMailbox } from '../address/named-mailbox.ts'
import { readMailboxes } from '../address/parsed-mailboxes.ts'
import type { FileAttachment } from '../compose/attachment.ts'
import type { RecipientFields } from '../compose/message-content.ts'
import { MAX_SUBJECT_LENGTH } from '../limits.ts'
import { oneFieldLine } from '../one-line.ts'
import { type ReadMessage, readMessage } from '../reading/read-message.ts'
import type { Seal } from '../reading/seal.ts'
import { collectFiles, takeSealedBody } from './files.ts'
import {
  collectHeaders,
  type HeaderLine,
  readRecipientFields,
  readTemplateChoice,
} from './headers.ts'

export type SubmittedMessage = {
  from: NamedMailbox
  /** Display names of To and Cc, by address. */
  names: ReadonlyMap<string, string>
  /** The fields To and Cc as the sender wrote them; null if both are absent. */
  recipientFields: RecipientFields | null
  reply: ParsedAddress | undefined
  subject: string
  body: string
  /** `body` is plain text and not HTML. */
  isText: boolean
  /** The plain-text alternative of an HTML body; undefined without one. */
  text: string | undefined
  headers: Readonly<Record<string, string>>
  /** The files of the message; for a sealed message, its whole body as the only file. */
  attachments: FileAttachment[]
  /** How the message is signed or encrypted; null if it is neither. */
  seal: Seal | null
  /** What the message says about being a template; undefined if it says nothing. */
  isTemplate: boolean | undefined
  /** Sentences on the parts of the message that were lost, guessed or mended. */
  warnings: string[]
}

/** `code`: the reply code and the enhanced code, such as `550 5.6.0`. */
type SubmissionRefusal = { code: string; text: string }

export type SubmissionResult = { submitted: SubmittedMessage } | { refusal: SubmissionRefusal }

export type SubmissionLimits = { attachmentsMaxCount: number; attachmentsMaxBytes: number }

/** Parts of a message that are read; mail programs write far fewer. */
const MAX_PARTS = 250

/** Returns a message or a refusal for any octets; rejects only because of a programming error. */
export async function readSubmitted(
  raw: Uint8Array,
  limits: SubmissionLimits,
): Promise<SubmissionResult> {
  const mail = await read(raw)
  if (mail === undefined) return refuse('554 5.6.0', 'The message has too many parts or fields')
  const { lines, html, damage, seal } = mail
  const from = readSender(mail)
  if (from === undefined) {
    return refuse('550 5.7.1', 'The header field From must name exactly one mailbox')
  }
  const subject = oneFieldLine(mail.subject)
  if (subject.length > MAX_SUBJECT_LENGTH) {
    return refuse('550 5.6.0', `The subject is longer than ${MAX_SUBJECT_LENGTH} characters`)
  }
  const replyTo = readMailboxes(mail.replyTo, damage)
  if (replyTo.length === 0 && lines.some(asksForReplies)) {
    return refuse('550 5.6.0', 'The header field Reply-To contains no email address')
  }
  const isTemplate = readTemplateChoice(lines)
  if (typeof isTemplate === 'string') return refuse('550 5.6.0', isTemplate)
  const headers = collectHeaders(lines, { replyTo, damage })
  if (typeof headers === 'string') return refuse('550 5.6.0', headers)
  const files = collectFiles(mail, limits)
  if (typeof files === 'string') return refuse('552 5.3.4', files)
  const sealed = seal === null ? undefined : takeSealedBody(octetsOf(raw), files)
  if (typeof sealed === 'string') return refuse('554 5.6.0', sealed)
  const to = readMailboxes(mail.to, damage)
  const cc = readMailboxes(mail.cc, damage)
  const isText = html.trim() === ''
  return {
    submitted: {
      from,
      names: namesOf([...to, ...cc]),
      recipientFields: readRecipientFields(lines, { to, cc }, damage),
      reply: replyTo[0]?.address,
      subject,
      body: isText ? mail.text : html,
      isText,
      text: isText || !hasOwnText(mail) ? undefined : mail.text,
      headers,
      attachments: sealed === undefined ? files : [sealed],
      seal,
      isTemplate,
      warnings: damage.list(),
    },
  }
}

function hasOwnText({ text, isTextWhole }: ReadMessage): boolean {
  return isTextWhole && text.trim() !== ''
}

/** Reads the message; undefined if it exceeds a bound. */
async function read(raw: Uint8Array): Promise<ReadMessage | undefined> {
  const mail = await readMessage(octetsOf(raw), { keepsFiles: true, maxParts: MAX_PARTS })
  if (mail.error === undefined) return mail
  if (hasCode(mail.error, 'EMAXLEN')) return undefined
  throw mail.error
}

function octetsOf(raw: Uint8Array): Buffer {
  return Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
}

function refuse(code: string, text: string): { refusal: SubmissionRefusal } {
  return { refusal: { code, text } }
}

function readSender({ from, lines, damage }: ReadMessage): NamedMailbox | undefined {
  const [entry, ...others] = from?.value ?? []
  if (countFields(lines, 'from') !== 1 || others.length > 0) return undefined
  return entry?.group === undefined ? readMailboxes(from, damage)[0] : undefined
}

function countFields(lines: readonly HeaderLine[], name: string): number {
  return lines.filter(({ key }) => key === name).length
}

/**
 * Whether the field names an address: some programs write an empty Reply-To, which asks for
 * nothing.
 */
function asksForReplies({ key, line }: HeaderLine): boolean {
  return key === 'reply-to' && !/^[^:]*:[\s<>]*$/.test(line)
}

function namesOf(mailboxes: readonly NamedMailbox[]): Map<string, string> {
  const names = new Map<string, string>()
  for (const { address, name } of mailboxes) {
    if (name !== null && !names.has(address.address)) names.set(address.address, name)
  }
  return names
}
