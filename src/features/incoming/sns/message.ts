/**
 * Parses a message of SNS (AWS: "HTTP/HTTPS message and JSON formats") and makes the text that SNS
 * signs: names and values on lines of their own, in the order of the names.
 */
type SnsType = 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation'

export type SnsMessage = {
  type: SnsType
  messageId: string
  topicArn: string
  message: string
  subject: string | null
  /** As sent, because it is signed; `at` is the same instant in epoch ms. */
  timestamp: string
  at: number
  /** `token` and `subscribeUrl` are of confirmations. */
  token: string | null
  subscribeUrl: string | null
  signatureVersion: '1' | '2'
  /** base64 */
  signature: string
  signingCertUrl: string
}

const TYPES: readonly string[] = [
  'Notification',
  'SubscriptionConfirmation',
  'UnsubscribeConfirmation',
]

/** Returns undefined for a value that is not a message of SNS. */
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

/** Returns the text that the signature covers. */
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
