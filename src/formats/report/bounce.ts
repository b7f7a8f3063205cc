/** Reads a bounce: from its delivery status fields, or from its prose if it has no such fields. */
import { getDomain } from 'tldts'
import { type Entity, readText } from '../parse/entity.ts'
import { listFields } from '../parse/fields.ts'
import { findAddress, listAddresses } from '../parse/find-address.ts'
import { classifyRecipient, type RecipientEvidence } from './classify-recipient.ts'
import {
  type DeliveryStatus,
  hasStatusFields,
  isDeliveryStatus,
  type StatusGroup,
} from './delivery-status.ts'
import { completeReply, reduceTranscript } from './diagnostic.ts'
import type { MessageKind } from './message-kind.ts'
import type { Original } from './original.ts'
import { type Block, type Prose, readProse } from './prose.ts'
import {
  MAX_READ_RECIPIENTS,
  type ReportedAction,
  type ReportedRecipient,
} from './reported-recipient.ts'

export type Bounce = { reportingMta: string | null; recipients: ReportedRecipient[] }

/** The parts of a report that were read before its recipients are. */
export type ReportContext = {
  entities: readonly Entity[]
  notice: string
  kind: MessageKind
  original: Original
}

/**
 * The line in reports of au (KDDI) that states the state of all recipients; the single replies only
 * say `user unknown`.
 */
const STATE_OF_ALL = /^\s{0,20}the user\(s\) account is\b[^\n]{0,120}/im

const REPLY = /(?<![\d.])[245]\d\d[ -]|[245]\.\d{1,3}\.\d{1,3}|said:|<<</

/**
 * Returns the texts of all delivery statuses: parts of that type, or else fields in plain text.
 * `nested`: the message that a bounce returns in its text; this message may be a report itself.
 */
export function listStatusTexts(
  entities: readonly Entity[],
  { notice, nested }: { notice: string; nested: string },
): string[] {
  const own = entities.filter(({ type, level }) => level === 0 && isDeliveryStatus(type))
  if (own.length > 0) return own.map(readText)
  if (hasStatusFields(notice)) return [notice]
  // A mail filter may have forwarded the report inside a message of its own.
  const inner = entities.filter(({ type, level }) => level === 1 && isDeliveryStatus(type))
  if (inner.length === 0 && hasStatusFields(nested)) return [skipToStatus(nested)]
  return inner.slice(0, 1).map(readText)
}

/** Skips the header sections that precede the delivery status. */
function skipToStatus(text: string): string {
  const start = /^[ \t]{0,9}(?:reporting-mta|(?:final|original)-recipient):/im.exec(text)
  return start === null ? text : text.slice(start.index)
}

export function readStatusBounce(
  statuses: readonly DeliveryStatus[],
  context: ReportContext,
): Bounce {
  const groups = statuses.flatMap((status) => status.groups).slice(0, MAX_READ_RECIPIENTS)
  const known = groups.map(({ recipient }) => recipient).filter((one) => one !== '')
  const actual = groups.map(({ actualRecipient }) => actualRecipient ?? '')
  const prose = proseOf(context, [...known, ...actual.filter((one) => one !== '')])
  const isNameless = known.length < groups.length
  const guess = isNameless ? (proseOf(context, []).blocks[0]?.recipient ?? '') : ''
  const unnamed = guess === '' ? (context.original.recipients[0] ?? '') : guess
  const reporter = statuses.map((one) => one.reportingMta).find(Boolean) ?? null
  const recipients = groups.map((group) =>
    classifyRecipient(
      evidenceOf({ group, prose, unnamed, reporter, isAlone: groups.length === 1 }, context),
    ),
  )
  return { reportingMta: reporter, recipients }
}

/** `unnamed`: the recipient to assume if the group names none. */
type GroupContext = {
  group: StatusGroup
  prose: Prose
  unnamed: string
  reporter: string | null
  /** The report has this one recipient, so all prose refers to it. */
  isAlone: boolean
}

function evidenceOf(
  { group, prose, unnamed, reporter, isAlone }: GroupContext,
  context: ReportContext,
): RecipientEvidence {
  const { notice, kind } = context
  const find = (name: string | null) => prose.blocks.find(({ recipient }) => recipient === name)
  const block = find(group.actualRecipient) ?? find(group.recipient)
  const session = (text: string) => reduceTranscript(text, group.actualRecipient ?? group.recipient)
  const fallback: ReportedAction = kind.isDelay ? 'delayed' : 'failed'
  return {
    recipient: group.recipient === '' ? unnamed : group.recipient,
    originalRecipient: group.originalRecipient,
    action: group.action ?? fallback,
    status: group.status,
    texts: [
      readStateOfAll(prose),
      completeReply(notice, group.diagnostic),
      session(block?.text ?? ''),
      group.comment,
    ],
    notice: session(isAlone || block === undefined ? notice : prose.preamble),
    remoteMta: group.remoteMta,
    isForeign: isForeign(group.actualRecipient ?? group.recipient, context, reporter),
    command: group.command,
  }
}

/**
 * Reads a bounce in prose. The result has at least one recipient, which is '' if the prose names
 * none. Undefined if the prose names none and the sender may be a person.
 */
export function readProseBounce(context: ReportContext): Bounce | undefined {
  const { entities, original, notice, kind } = context
  const root = entities[0]?.fields ?? []
  const headers = ['x-failed-recipients', 'x-mailer-daemon-recipients']
  const listed = headers
    .map((name) => listFields(root, name).join(', '))
    .find((value) => value !== '')
  const prose = proseOf(context, listAddresses(listed ?? '', MAX_READ_RECIPIENTS))
  if (prose.blocks.length === 0 && !kind.isReport) return undefined
  const fallback = { recipient: original.recipients[0] ?? '', text: notice }
  const blocks = prose.blocks.length > 0 ? prose.blocks : [fallback]
  const recipients = blocks.map((block) =>
    classifyRecipient({
      ...proseEvidence(block, prose, kind),
      isForeign: isForeign(block.recipient, context, null),
    }),
  )
  return { reportingMta: null, recipients }
}

function proseEvidence(
  { recipient, text }: Block,
  prose: Prose,
  kind: MessageKind,
): RecipientEvidence {
  const preamble = reduceTranscript(prose.preamble, recipient)
  const reduced = reduceTranscript(text || prose.preamble, recipient)
  return {
    recipient,
    originalRecipient: null,
    action: kind.isDelay ? 'delayed' : 'failed',
    status: null,
    texts: [
      readStateOfAll({ preamble }),
      ...pickParagraphs(reduced),
      pickReplyAbove(reduced, preamble),
    ],
    notice: preamble,
  }
}

/**
 * Whether the recipient and the reporting system (Reporting-MTA, else From) belong to different
 * organisations.
 */
function isForeign(
  recipient: string,
  { entities }: ReportContext,
  reporter: string | null,
): boolean {
  const from = findAddress(listFields(entities[0]?.fields ?? [], 'from')[0] ?? '') ?? ''
  const own = reporter ?? from.slice(from.lastIndexOf('@') + 1)
  const domain = recipient.slice(recipient.lastIndexOf('@') + 1)
  if (own === '' || domain === '') return false
  return organisationOf(own.toLowerCase()) !== organisationOf(domain)
}

function organisationOf(name: string): string {
  return getDomain(name) ?? name
}

function readStateOfAll({ preamble }: Pick<Prose, 'preamble'>): string {
  return STATE_OF_ALL.exec(preamble)?.[0] ?? ''
}

/**
 * Returns a reply from the lines above the recipients, if the text below them has none; '' if
 * neither has a reply.
 */
function pickReplyAbove(text: string, preamble: string): string {
  if (REPLY.test(text)) return ''
  return preamble.split(/\n\s*\n/, 40).find((one) => REPLY.test(one)) ?? ''
}

/** Returns the first paragraph with a reply, and then the whole text, which may end in advice. */
function pickParagraphs(text: string): string[] {
  const paragraphs = text.split(/\n\s*\n/, 40)
  const withReply = paragraphs.find((one) => REPLY.test(one))
  return withReply === undefined || withReply === text ? [text] : [withReply, text]
}

function proseOf({ notice, entities }: ReportContext, known: readonly string[]): Prose {
  const to = listFields(entities[0]?.fields ?? [], 'to')[0] ?? ''
  return readProse(notice, { known, sender: findAddress(to) })
}
