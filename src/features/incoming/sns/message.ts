/**
 * Parses a message of SNS (AWS: "HTTP/HTTPS message and JSON formats"), makes the text that SNS
 * signs (names and values on lines of their own, in the order of the names), and checks the two
 * URLs that this server fetches. A pattern checks the text of a URL before it is parsed, so user
 * names, ports, backslashes, full-width dots and all else that URL parsers tolerate never match.
 */
import { AppError } from '../../../base/errors.ts'

const SNS_URL =
  /^https:\/\/(sns\.[a-z]{2,4}(?:-[a-z]{2,12}){1,3}-\d{1,2}\.amazonaws\.com(?:\.cn)?)\/([!-~]*)$/

/** The path of a certificate: one file in the root, without a query. */
const CERTIFICATE_FILE = /^[\w-][\w.-]{0,200}\.pem$/

type SnsType = 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation'

export type SnsMessage = {
  type: SnsType
  messageId: string
  topicArn: string
  message: string
  subject: string | null
  /** The time as text, as it was sent and signed; `at` is the same instant in epoch ms. */
  timestamp: string
  at: number
  /** The token of a confirmation, which also has a `subscribeUrl`; null for other messages. */
  token: string | null
  subscribeUrl: string | null
  signatureVersion: '1' | '2'
  /** The signature in base64. */
  signature: string
  signingCertUrl: string
}

const TYPES: readonly string[] = [
  'Notification',
  'SubscriptionConfirmation',
  'UnsubscribeConfirmation',
]

/** Parses a message; undefined for a value that is not a message of SNS. */
export function parseSnsMessage(value: unknown): SnsMessage | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const fields = value as Record<string, unknown>
  const { Type: type, SignatureVersion: version, Timestamp: timestamp } = fields
  if (typeof type !== 'string' || !TYPES.includes(type)) return undefined
  if (version !== '1' && version !== '2') return undefined
  const required = {
    messageId: fields.MessageId,
    topicArn: fields.TopicArn,
    message: fields.Message,
    signature: fields.Signature,
    signingCertUrl: fields.SigningCertURL,
    timestamp,
  }
  if (!areTexts(required)) return undefined
  const at = Date.parse(required.timestamp)
  if (Number.isNaN(at)) return undefined
  const confirmation = { token: fields.Token, subscribeUrl: fields.SubscribeURL }
  const isConfirmation = type !== 'Notification'
  if (isConfirmation && !areTexts(confirmation)) return undefined
  return {
    ...required,
    type: type as SnsType,
    at,
    subject: textOrNull(fields.Subject),
    token: textOrNull(confirmation.token),
    subscribeUrl: textOrNull(confirmation.subscribeUrl),
    signatureVersion: version,
  }
}

/** Makes the text that the signature covers. */
export function signedText(message: SnsMessage): string {
  const confirmation: [string, string | null][] =
    message.type === 'Notification'
      ? []
      : [
          ['SubscribeURL', message.subscribeUrl],
          ['Token', message.token],
        ]
  const pairs: [string, string | null][] = [
    ['Message', message.message],
    ['MessageId', message.messageId],
    ['Subject', message.type === 'Notification' ? message.subject : null],
    ['Timestamp', message.timestamp],
    ['TopicArn', message.topicArn],
    ['Type', message.type],
    ...confirmation,
  ]
  return pairs
    .filter(([, value]) => value !== null)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}\n${value}\n`)
    .join('')
}

function areTexts<Key extends string>(values: Record<Key, unknown>): values is Record<Key, string> {
  return Object.values(values).every((value) => typeof value === 'string' && value !== '')
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/**
 * The error for a message that is not trusted. The reason goes to the log and not to the caller.
 */
export function untrusted(why: string, cause?: unknown): AppError {
  return new AppError('FORBIDDEN', 'The notification is not trusted.', {
    cause: new Error(why, { cause }),
    suggestion: 'List the topic in sns.topic_arns. Only messages that SNS signed are accepted.',
  })
}

/** Parses the URL of a certificate; undefined for any other URL. */
export function parseCertificateUrl(text: string): URL | undefined {
  const path = pathOf(text)
  return path !== undefined && CERTIFICATE_FILE.test(path) ? new URL(text) : undefined
}

/**
 * Parses the URL that confirms a subscription to `topicArn` and does nothing else; undefined for
 * any other URL.
 */
export function parseSubscribeUrl(text: string, topicArn: string): URL | undefined {
  if (!pathOf(text)?.startsWith('?')) return undefined
  const url = new URL(text)
  const isConfirmation =
    url.hash === '' &&
    isOnly(url, 'Action', 'ConfirmSubscription') &&
    isOnly(url, 'TopicArn', topicArn)
  return isConfirmation ? url : undefined
}

/** Returns the text after the first slash; undefined for any other host. */
function pathOf(text: string): string | undefined {
  const [, host, path] = SNS_URL.exec(text) ?? []
  if (host === undefined || path === undefined) return undefined
  return URL.parse(text)?.hostname === host ? path : undefined
}

function isOnly(url: URL, name: string, value: string): boolean {
  const values = url.searchParams.getAll(name)
  return values.length === 1 && values[0] === value
}
