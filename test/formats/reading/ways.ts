/**
 * One message on the three ways in: by port 25, by submission, and by the API with the words and files
 * that a program takes from it. What submission and the API accept is composed, and read again.
 */
import assert from 'node:assert/strict'
import { buildMessage } from '../../../src/formats/compose/build-message.ts'
import type { MessageContent } from '../../../src/formats/compose/message-content.ts'
import { htmlToText } from '../../../src/formats/html/html-to-text.ts'
import { readIncomingHeader } from '../../../src/formats/incoming/header.ts'
import { readIncoming } from '../../../src/formats/incoming/read-message.ts'
import { createTemplateCache } from '../../../src/formats/precomposed/template-cache.ts'
import {
  readSubmitted,
  type SubmittedMessage,
} from '../../../src/formats/submitted/read-submitted.ts'
import { escapeHtml } from '../../../src/formats/template/characters.ts'
import { sendBody } from '../../../src/http/routes/send.ts'
import { testTracker } from '../tracker.ts'

/** What a person sees of a message. `files`: name and size, then the type. */
export type Seen = { subject: string; name: string | null; words: string; files: string[] }

const limits = {
  attachmentsMaxCount: 100,
  attachmentsMaxBytes: 20_000_000,
  messageMaxBytes: 40_000_000,
  recipientsPerRequest: 1,
} as Parameters<typeof sendBody>[0]

export async function seeReceived(raw: Buffer): Promise<Seen & { warnings: string[] }> {
  const mail = await readIncoming(raw)
  const words = mail.text ?? htmlToText(mail.html ?? '')
  return {
    subject: readIncomingHeader(raw).subject,
    name: mail.from?.name ?? null,
    words: words.split(/\s+/).filter(Boolean).join(' '),
    files: mail.attachments.map(describe).sort(),
    warnings: mail.warnings,
  }
}

export async function submit(raw: Buffer): Promise<SubmittedMessage> {
  const reading = await readSubmitted(raw, limits)
  assert.ok('submitted' in reading, JSON.stringify(reading))
  return reading.submitted
}

/** The message that a submission is sent as. */
export function composeSubmitted(mail: SubmittedMessage): Buffer {
  const { subject, body, isText, text = null, attachments } = mail
  const content = { id: 'submitted', subject, body, isText, text, attachments, isLiteral: true }
  return compose(content, mail.from.name)
}

/** The message that a request of the same words and files is sent as. */
export function composeRequest(mail: SubmittedMessage): Buffer {
  const text = mail.isText ? mail.body : mail.text
  const files = mail.attachments.filter(({ content }) => content !== '')
  const request = sendBody(limits).parse({
    to: 'guest@dest.test',
    from: { name: mail.from.name ?? '', email: 'shop@example.test' },
    subject: mail.subject || ' ',
    body: mail.isText ? `<pre>${escapeHtml(mail.body)}</pre>` : mail.body,
    ...(text ? { text } : {}),
    attachments: files.map(({ contentId, ...file }, index) => ({
      ...file,
      filename: file.filename || `file-${index}`,
      ...(contentId === null ? {} : { contentId }),
    })),
  })
  const { subject = '', body = '', text: own = null, attachments = [] } = request
  const content = { id: 'request', subject, body, isText: false, text: own, attachments }
  return compose({ ...content, isLiteral: true }, request.from?.name ?? null)
}

function compose(content: MessageContent, name: string | null): Buffer {
  const from = { address: 'shop@example.test', name }
  const source = {
    ...{ content, from, replyTo: from, to: { address: 'guest@dest.test', name: null } },
    ...{ emailId: '019a0000-0000-7000-8000-000000000001', messageId: '1@example.test' },
    ...{ isTracked: false, footer: null, returnToken: 't', unsubscribeMailbox: null },
    ...{ createdAt: Date.parse('2026-11-21T12:00:00Z'), headers: null, language: 'en' },
    ...{ variables: { stored: {}, request: {}, system: {} }, feedbackId: 'a:b:c:pillarbox' },
    ...{ isBulk: false, oneClickUrl: null, isMarketing: false, preferenceUrls: [] },
  }
  const { octets } = buildMessage(source, createTemplateCache(testTracker()))
  return Buffer.from(octets, 'latin1')
}

type File = { filename: string | null; contentType: string; sizeBytes: number }

/** Names that this program gives to files without one do not count. */
function describe({ filename, contentType, sizeBytes }: File): string {
  const name = /^(?:attachment|file)-\d+/.test(filename ?? '') ? '' : (filename ?? '')
  return `${name} ${sizeBytes} ${contentType}`
}

/**
 * The files with the types of others, where those are parts of a report: they are sent as octet
 * streams, whose type a reader takes from the name.
 */
export function withReportTypes(files: readonly string[], others: readonly string[]): string[] {
  return files.map((file, index) => {
    const other = others[index] ?? ''
    const isSame = other.slice(0, other.lastIndexOf(' ')) === file.slice(0, file.lastIndexOf(' '))
    return isSame && / message\/[\w-]+$/.test(other) ? other : file
  })
}
