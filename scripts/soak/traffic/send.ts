/** `POST /v1/send` in all its forms. The subject of every message is `Soak <number>`. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, ApiRequest } from '../client/api.ts'
import type { SendRecord } from '../history/history.ts'
import type { Operation } from '../plan/operations.ts'
import { makeRecipients } from './recipients.ts'
import { ERASED_PREFIX, type Handler, type Traffic } from './traffic.ts'

const MAX_RECIPIENTS = 8
/** Attachments of more than 1 MB are stored in chunks. */
const LARGE_BYTES = 1_300_000
const LARGE_SHARE = 0.15
const MAX_ERASE_WAIT_MS = 3_000

const BODY =
  '<p>Hello {{ email }}, <a href="https://shop.example.com/offers">our offers</a>. ' +
  '<a href="{{ unsubscribeUrl }}">Unsubscribe</a></p>'

export const send: Handler = async (traffic, operation) => {
  await sendTo(traffic, operation, { to: makeRecipients(operation) })
}

/** Repeated with its key until there is an answer. */
export const sendKeyed: Handler = async (traffic, operation) => {
  const key = `send-${operation.number}`
  await sendTo(traffic, operation, { to: makeRecipients(operation), key })
}

export const sendMany: Handler = async (traffic, operation) => {
  const count = 2 + Math.floor(operation.lots[0] * (MAX_RECIPIENTS - 1))
  const to = [...new Set(makeRecipients(operation, count))]
  await sendTo(traffic, operation, { to, ...maybeKey(operation) })
}

export const sendAttachment: Handler = async (traffic, operation) => {
  const [isLarge, size] = operation.lots
  const bytes = isLarge < LARGE_SHARE ? LARGE_BYTES : 10_000 + Math.floor(size * 200_000)
  const content = randomBytes(bytes).toString('base64')
  const file = { filename: 'a.bin', content, contentType: 'application/octet-stream' }
  const fields = { attachments: [file] }
  await sendTo(traffic, operation, {
    to: makeRecipients(operation),
    ...maybeKey(operation),
    fields,
  })
}

export const sendTemplate: Handler = async (traffic, operation) => {
  const fields = { template: traffic.templateId, subject: undefined, body: undefined }
  const data = { number: { value: operation.number, persistent: false } }
  await sendTo(traffic, operation, { to: makeRecipients(operation), fields: { ...fields, data } })
}

/** A client that goes away before the end of its request, or before the answer. */
export const sendAbandoned: Handler = async (traffic, operation) => {
  const { history, main } = traffic
  const to = makeRecipients(operation)
  const share = operation.lots[0] < 0.5 ? operation.lots[1] : 1
  await main.api.abandon(requestOf(operation, { to }), share)
  const { number } = operation
  history.sends.push({ number, project: 'main', via: 'http', to, outcome: 'unknown', ids: [] })
}

/** In the project `erasures`: an email, and the deletion of its contact a moment later. */
export const sendThenErase: Handler = async (traffic, operation) => {
  const { history, erasures } = traffic
  const email = `${ERASED_PREFIX}${operation.number}@healthy.test`
  const key = `erase-${operation.number}`
  const fields = { from: 'shop@erasures.test' }
  const answer = await erasures.api.ask(requestOf(operation, { to: [email], key, fields }))
  recordSend(traffic, operation, { project: 'erasures', to: [email], answer })
  const contactId = readEmails(answer)[0]?.contact.id
  if (contactId === undefined) return
  await sleep(operation.lots[0] * MAX_ERASE_WAIT_MS)
  history.erased.set(email, 'unknown')
  const deletion = { method: 'DELETE', path: `/contacts/${contactId}`, isRepeatable: true }
  // 404 answers a repetition.
  const { outcome, status } = await erasures.api.ask({ ...deletion, expects: [404] })
  history.erased.set(email, status === 404 ? 'acknowledged' : outcome)
}

type Message = { to: readonly string[]; key?: string; fields?: Record<string, unknown> }

async function sendTo(traffic: Traffic, operation: Operation, message: Message): Promise<void> {
  const answer = await traffic.main.api.ask(requestOf(operation, message))
  recordSend(traffic, operation, { project: 'main', to: message.to, answer })
}

function requestOf({ number }: Operation, { to, key, fields }: Message): ApiRequest {
  const texts = { subject: `Soak ${number}`, body: BODY }
  const body = { to, from: 'shop@example.test', ...texts, ...fields }
  return { method: 'POST', path: '/v1/send', body, ...(key === undefined ? {} : { key }) }
}

function maybeKey({ number, lots }: Operation): { key?: string } {
  return lots[2] < 0.5 ? { key: `send-${number}` } : {}
}

function recordSend(
  { history }: Traffic,
  { number }: Operation,
  { project, to, answer }: Pick<SendRecord, 'project' | 'to'> & { answer: Answer },
): void {
  const ids = readEmails(answer).map(({ email }) => email)
  history.sends.push({ number, project, via: 'http', to, outcome: answer.outcome, ids })
}

type SentEmail = { email: string; contact: { id: string } }

function readEmails({ outcome, body }: Answer): SentEmail[] {
  if (outcome !== 'acknowledged') return []
  return (body as { data: { emails: SentEmail[] } }).data.emails
}
