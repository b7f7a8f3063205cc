/**
 * Parses the `Message` of a notification of SES (AWS: "event publishing" and "receipt rule"
 * formats). Addresses and texts in the result come from outside and are not checked.
 */
import { parseAddress } from '../../../formats/address/address.ts'

/**
 * Ids by which the email may be found: ids of SES, Message-IDs without angle brackets, and
 * X-Pillarbox-Id.
 */
export type MessageIds = { providerIds: string[]; messageIds: string[]; tokens: string[] }

export type BouncedRecipient = { address: string; status: string | null; diagnostic: string | null }

export type SesNotification =
  | { kind: 'delivery'; ids: MessageIds }
  | { kind: 'open'; ids: MessageIds; at: number | null; userAgent: string }
  | { kind: 'click'; ids: MessageIds; at: number | null; userAgent: string; link: string }
  | {
      kind: 'bounce'
      ids: MessageIds
      /** The type in the words of SES: `Permanent`, `Transient`, `Undetermined`. */
      bounceType: string
      bounceSubType: string
      recipients: BouncedRecipient[]
      reportingMta: string | null
    }
  | { kind: 'complaint'; ids: MessageIds; feedbackType: string | null; recipients: string[] }
  | ReceivedMail

export type ReceivedMail = {
  kind: 'received'
  /** The octets of the message; only its header section when SES did not send the rest. */
  content: Buffer
  reversePath: string
  recipients: string[]
  /** The address of the client that sent the message to SES; empty when SES does not say. */
  clientAddress: string
  clientName: string
}

/** Parses a notification; undefined for a notification of any other kind. */
export function parseNotification(text: string): SesNotification | undefined {
  const event = parseObject(text)
  const kind = textAt(event, 'eventType') ?? textAt(event, 'notificationType')
  const mail = fieldsAt(event, 'mail')
  const ids = readIds(mail)
  switch (kind) {
    case 'Delivery':
      return { kind: 'delivery', ids }
    case 'Open':
      return { kind: 'open', ids, ...readHit(fieldsAt(event, 'open')) }
    case 'Click': {
      const click = fieldsAt(event, 'click')
      return { kind: 'click', ids, ...readHit(click), link: textAt(click, 'link') ?? '' }
    }
    case 'Bounce':
      return { kind: 'bounce', ids, ...readBounce(fieldsAt(event, 'bounce')) }
    case 'Complaint':
      return { kind: 'complaint', ids, ...readComplaint(fieldsAt(event, 'complaint')) }
    case 'Received':
      return readReceived(event, mail)
    default:
      return undefined
  }
}

/** Whether the complaint may come from this recipient. */
export function isBy(
  { recipients }: { recipients: readonly string[] },
  recipient: string,
): boolean {
  return recipients.length === 0 || recipients.some((each) => isSameAddress(each, recipient))
}

/** Whether an address of a notification, with or without a display name, is the recipient. */
export function isSameAddress(given: string, recipient: string): boolean {
  const bare = /<([^<>]+)>\s*$/.exec(given)?.[1] ?? given
  return (parseAddress(bare)?.address ?? bare) === recipient
}

function parseObject(text: string): Fields {
  try {
    return fieldsAt({ value: JSON.parse(text) }, 'value')
  } catch (error) {
    // The first message of SES to a new topic is plain text, and no fault.
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

function readIds(mail: Fields): MessageIds {
  const named = [textAt(fieldsAt(mail, 'commonHeaders'), 'messageId'), headerOf(mail, 'message-id')]
  return {
    providerIds: [textAt(mail, 'messageId')].flatMap((id) => id ?? []),
    messageIds: named.flatMap((id) => (id === null ? [] : bareId(id))),
    tokens: [headerOf(mail, 'x-pillarbox-id')].flatMap((token) => token?.trim() ?? []),
  }
}

function bareId(text: string): string[] {
  const id = /^\s*<?([^<>\s]{1,998})>?\s*$/.exec(text)?.[1]
  return id === undefined ? [] : [id]
}

function headerOf(mail: Fields, name: string): string | null {
  const field = listAt(mail, 'headers').find((each) => textAt(each, 'name')?.toLowerCase() === name)
  return field === undefined ? null : textAt(field, 'value')
}

function readHit(hit: Fields) {
  const at = Date.parse(textAt(hit, 'timestamp') ?? '')
  return { at: Number.isNaN(at) ? null : at, userAgent: textAt(hit, 'userAgent') ?? '' }
}

function readBounce(bounce: Fields) {
  return {
    bounceType: textAt(bounce, 'bounceType') ?? 'Undetermined',
    bounceSubType: textAt(bounce, 'bounceSubType') ?? '',
    reportingMta: textAt(bounce, 'reportingMTA')?.replace(/^(?:dns|dsn);\s*/i, '') ?? null,
    recipients: listAt(bounce, 'bouncedRecipients').map((each) => ({
      address: textAt(each, 'emailAddress') ?? '',
      status: textAt(each, 'status'),
      diagnostic: textAt(each, 'diagnosticCode'),
    })),
  }
}

function readComplaint(complaint: Fields) {
  return {
    feedbackType: textAt(complaint, 'complaintFeedbackType'),
    recipients: listAt(complaint, 'complainedRecipients').flatMap(
      (each) => textAt(each, 'emailAddress') ?? [],
    ),
  }
}

function readReceived(event: Fields, mail: Fields): ReceivedMail {
  const receipt = fieldsAt(event, 'receipt')
  const ruleRecipients = textsAt(receipt, 'recipients')
  const spf = headerOf(mail, 'received-spf') ?? ''
  return {
    kind: 'received',
    content: readContent(event, mail),
    reversePath: bareAddress(textAt(mail, 'source') ?? ''),
    recipients: ruleRecipients.length > 0 ? ruleRecipients : textsAt(mail, 'destination'),
    clientAddress: /\bclient-ip=([\da-f.:]+)/i.exec(spf)?.[1] ?? '',
    clientName: /\bhelo=([\w.-]+)/i.exec(spf)?.[1] ?? '',
  }
}

/**
 * Takes the address out of `Name <address>`, which SES writes too; `<>` is the null reverse path.
 */
function bareAddress(text: string): string {
  return /<([^<>]*)>\s*$/.exec(text)?.[1] ?? text
}

/** Reads the octets of the message: base64 or plain text, as the receipt rule says. */
function readContent(event: Fields, mail: Fields): Buffer {
  const content = textAt(event, 'content')
  if (content === null) return headerSection(mail)
  const encoding = textAt(fieldsAt(fieldsAt(event, 'receipt'), 'action'), 'encoding')
  const isBase64 = encoding === null ? isOnlyBase64(content) : /^base64$/i.test(encoding)
  return Buffer.from(content, isBase64 ? 'base64' : 'utf8')
}

/** Whether the text is base64. A message has colons, and base64 has none. */
function isOnlyBase64(text: string): boolean {
  return /^[A-Za-z0-9+/=\s]*$/.test(text)
}

function headerSection(mail: Fields): Buffer {
  const lines = listAt(mail, 'headers').flatMap((field) => {
    const name = textAt(field, 'name') ?? ''
    const value = (textAt(field, 'value') ?? '').replace(/[\r\n\0]+\s*/g, ' ')
    return /^[!-9;-~]+$/.test(name) ? [`${name}: ${value}\r\n`] : []
  })
  return Buffer.from(`${lines.join('')}\r\n`)
}

function textsAt(fields: Fields, name: string): string[] {
  const value = fields[name]
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** The fields of a JSON object that was not checked. */
type Fields = Readonly<Record<string, unknown>>

/** Reads an object field; an empty object if the field is missing or of another type. */
function fieldsAt(fields: Fields, name: string): Fields {
  return toFields(fields[name])
}

/** Reads the objects of a list field, without its other values. */
function listAt(fields: Fields, name: string): Fields[] {
  const value = fields[name]
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** Reads a text field; null if the field is missing or of another type. */
function textAt(fields: Fields, name: string): string | null {
  const value = fields[name]
  return typeof value === 'string' ? value : null
}

function toFields(value: unknown): Fields {
  return isObject(value) ? value : {}
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
