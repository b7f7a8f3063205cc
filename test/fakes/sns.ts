/** A signer as SNS is one: messages with its signature, and the certificate to check it by. */
import { type KeyPairKeyObjectResult, sign } from 'node:crypto'
import type { PublicFetch } from '../../src/outbound/http/clients.ts'
import { type CertificateOptions, makeCertificate, makeKeys } from './certificate.ts'

export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:mail'
export const CERTIFICATE_URL =
  'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem'
export const SUBSCRIBE_URL = `https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=2336412f37`

export type SnsFields = Record<string, string>

export type FakeSns = {
  /** Serves the certificate, and takes confirmations; keeps what it was asked for. */
  publicFetch: PublicFetch
  asked: string[]
  /** As SNS posts it, signed, whatever is changed in it. */
  message(change?: SnsFields): SnsFields
  /** The same again with a signature that fits. */
  signed(fields: SnsFields): SnsFields
}

export type FakeSnsOptions = CertificateOptions & {
  names?: readonly string[]
  /** What is served instead of the certificate. */
  served?: { status: number; body: string }
  now?: () => number
  /** Whether no other signer has its key. */
  hasOwnKey?: boolean
}

let messages = 0
/** Of all signers but those with one of their own: to make one takes a while. */
let commonKeys: KeyPairKeyObjectResult | undefined

export function createSns(options: FakeSnsOptions = {}): FakeSns {
  const {
    names = ['sns.amazonaws.com'],
    served,
    now = Date.now,
    hasOwnKey,
    ...certificate
  } = options
  if (hasOwnKey !== true) commonKeys ??= makeKeys('rsa')
  const keys = (hasOwnKey === true ? undefined : commonKeys) ?? makeKeys('rsa')
  const { key, cert } = makeCertificate(names, { kind: 'rsa', keys, ...certificate })
  const asked: string[] = []
  const signed = (fields: SnsFields): SnsFields => {
    const digest = fields.SignatureVersion === '2' ? 'RSA-SHA256' : 'RSA-SHA1'
    const text = Buffer.from(stringToSign(fields))
    return { ...fields, Signature: sign(digest, text, key).toString('base64') }
  }
  return {
    asked,
    publicFetch: async (url) => {
      asked.push(url.href)
      const isCertificate = url.pathname.endsWith('.pem')
      const { status, body } = isCertificate
        ? (served ?? { status: 200, body: cert })
        : { status: 200, body: '<ConfirmSubscriptionResponse/>' }
      return { ok: true, status, body: Buffer.from(body) }
    },
    message: (change = {}) => {
      messages += 1
      return signed({
        Type: 'Notification',
        MessageId: `22b80b92-fdea-4c2c-8f9d-${String(messages).padStart(12, '0')}`,
        TopicArn: TOPIC,
        Message: '{}',
        Timestamp: new Date(now()).toISOString(),
        SignatureVersion: '1',
        SigningCertURL: CERTIFICATE_URL,
        UnsubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe',
        ...change,
      })
    },
    signed,
  }
}

/** Written from the documentation, apart from the code that is tested by it. */
function stringToSign(fields: SnsFields): string {
  const names =
    fields.Type === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  return names.flatMap((name) => (name in fields ? `${name}\n${fields[name]}\n` : [])).join('')
}

/** What SES says of a mail of ours. */
export function sesEvent(
  eventType: string,
  mail: Record<string, unknown>,
  detail: Record<string, unknown> = {},
): string {
  return JSON.stringify({ eventType, mail, [eventType.toLowerCase()]: detail })
}
