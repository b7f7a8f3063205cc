/**
 * Bounces, complaints and replies about messages that receivers took, handed to the inbound listener as
 * a mail server does: again and again until there is a 250.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { failureReport } from '../../../test/fakes/failure-report.ts'
import { connect } from '../../../test/inbound/dialogue.ts'
import { countAnswer, type ReportRecord } from '../history/history.ts'
import type { Operation } from '../plan/operations.ts'
import type { Delivered } from '../world/sinks.ts'
import { type Handler, pickDelivered, type Traffic } from './traffic.ts'

type Mail = { from: string; to: string; lines: readonly string[] }

const PATIENCE_MS = 240_000
const PAUSE_MS = 300

export const reportBounce: Handler = (traffic, operation) =>
  report(traffic, operation, 'bounce', (message) => ({
    from: '',
    to: message.from,
    lines: failureReport(message.to, message.header),
  }))

export const reportComplaint: Handler = (traffic, operation) =>
  report(traffic, operation, 'complaint', (message) => ({
    from: 'fbl@healthy.test',
    to: message.from,
    lines: complaintAbout(message),
  }))

export const reply: Handler = (traffic, operation) =>
  report(traffic, operation, 'reply', (message) => ({
    from: message.to,
    to: 'shop@example.test',
    lines: [
      `From: <${message.to}>`,
      'To: shop@example.test',
      `Subject: Reply ${operation.number}`,
      `Message-ID: <reply-${operation.number}@healthy.test>`,
      `In-Reply-To: ${message.messageId}`,
      '',
      'Thank you.',
    ],
  }))

async function report(
  traffic: Traffic,
  { number, lots }: Operation,
  kind: ReportRecord['kind'],
  write: (message: Delivered) => Mail,
): Promise<void> {
  const { history, reported } = traffic
  const message = pickDelivered(traffic, lots[0], ({ emailId }) => !reported.has(emailId))
  if (message === undefined) return
  const { emailId } = message
  reported.add(emailId)
  const mark = kind === 'reply' ? `Reply ${number}` : emailId
  const record: ReportRecord = { number, kind, emailId, mark, outcome: 'unknown', tries: 0 }
  history.reports.push(record)
  await deliver(traffic, record, write(message))
}

async function deliver({ history, inboundPort }: Traffic, record: ReportRecord, mail: Mail) {
  for (const endsAt = Date.now() + PATIENCE_MS; Date.now() < endsAt; await sleep(PAUSE_MS)) {
    const { isHandedOver, code, text } = await tryOnce(inboundPort, mail)
    if (isHandedOver) record.tries += 1
    countAnswer(history, code === 0 ? 'inbound no reply' : `inbound ${code}`)
    if (code === 250) {
      record.outcome = 'acknowledged'
      return
    }
    if (code >= 500) {
      record.outcome = 'refused'
      history.surprises.push({ at: Date.now(), what: record.kind, status: code, text })
      return
    }
  }
}

/** `code` 0: the connection ended. */
async function tryOnce(port: number, { from, to, lines }: Mail) {
  const session = await connect(port, { ehlo: 'mx.healthy.test' })
  try {
    const opened = await session.open(from, to)
    if (opened.code !== 354) return { isHandedOver: false, ...opened }
    return { isHandedOver: true, ...(await session.data(`${lines.join('\r\n')}\r\n`)) }
  } finally {
    session.close()
  }
}

function complaintAbout({ header }: Delivered): string[] {
  return [
    'From: fbl@healthy.test',
    'Subject: complaint',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary=b1',
    '',
    '--b1',
    'Content-Type: text/plain',
    '',
    'This is an email abuse report.',
    '--b1',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: abuse',
    'User-Agent: Soak/1.0',
    'Version: 1',
    '',
    '--b1',
    'Content-Type: message/rfc822',
    '',
    header,
    '',
    'Hello',
    '--b1--',
  ]
}
