/** A report of delivery: from its fields where it has some, else from its prose. */
import { getDomain } from 'tldts'
import { type Entity, readText } from '../parse/entity.ts'
import { listFields } from '../parse/fields.ts'
import { findAddress, listAddresses } from '../parse/find-address.ts'
import { classifyRecipient, type Evidence } from './classify-recipient.ts'
import {
  type DeliveryStatus,
  hasStatusFields,
  isDeliveryStatus,
  type StatusGroup,
} from './delivery-status.ts'
import type { MessageKind } from './message-kind.ts'
import type { Original } from './original.ts'
import { type Block, type Prose, readProse } from './prose.ts'
import type { ReportedAction, ReportedRecipient } from './reported-recipient.ts'
import { completeReply, reduceTranscript } from './transcript.ts'

export type Bounce = { reportingMta: string | null; recipients: ReportedRecipient[] }

/** What is known of a message by the time its recipients are looked for. */
export type Findings = {
  entities: readonly Entity[]
  notice: string
  signs: MessageKind
  original: Original
}

/** One more than is reported. */
const maxRecipients = 51

/** Above the recipients, of each of whom the reply then says no more than `user unknown` (au). */
const STATE_OF_ALL = /^\s{0,20}the user\(s\) account is\b[^\n]{0,120}/im

const REPLY = /(?<![\d.])[245]\d\d[ -]|[245]\.\d{1,3}\.\d{1,3}|said:|<<</

/**
 * The text of every delivery status: parts of that type, else fields in plain text. `nested`: what
 * the text of a bounce gives back, which may be a report in its turn.
 */
export function listStatusTexts(
  entities: readonly Entity[],
  { notice, nested }: { notice: string; nested: string },
): string[] {
  const own = entities.filter(({ type, level }) => level === 0 && isDeliveryStatus(type))
  if (own.length > 0) return own.map(readText)
  if (hasStatusFields(notice)) return [notice]
  // A filter on the way that wraps the report it passes on.
  const inner = entities.filter(({ type, level }) => level === 1 && isDeliveryStatus(type))
  if (inner.length === 0 && hasStatusFields(nested)) return [skipToStatus(nested)]
  return inner.slice(0, 1).map(readText)
}

/** Past the header sections, whose fields are others'. */
function skipToStatus(text: string): string {
  const start = /^[ \t]{0,9}(?:reporting-mta|(?:final|original)-recipient):/im.exec(text)
  return start === null ? text : text.slice(start.index)
}

export function readStatusBounce(statuses: readonly DeliveryStatus[], findings: Findings): Bounce {
  const groups = statuses.flatMap((status) => status.groups).slice(0, maxRecipients)
  const known = groups.map(({ recipient }) => recipient).filter((one) => one !== '')
  const actual = groups.map(({ actualRecipient }) => actualRecipient ?? '')
  const prose = proseOf(findings, [...known, ...actual.filter((one) => one !== '')])
  const isNameless = known.length < groups.length
  const guess = isNameless ? (proseOf(findings, []).blocks[0]?.recipient ?? '') : ''
  const unnamed = guess === '' ? (findings.original.recipients[0] ?? '') : guess
  const reporter = statuses.map((one) => one.reportingMta).find(Boolean) ?? null
  const recipients = groups.map((group) =>
    classifyRecipient(
      evidenceOf({ group, prose, unnamed, reporter, isAlone: groups.length === 1 }, findings),
    ),
  )
  return { reportingMta: reporter, recipients }
}

/** `unnamed`: who it was where the group does not say. */
type Told = {
  group: StatusGroup
  prose: Prose
  unnamed: string
  reporter: string | null
  /** The only recipient, so that all of the prose is about that one. */
  isAlone: boolean
}

function evidenceOf(
  { group, prose, unnamed, reporter, isAlone }: Told,
  findings: Findings,
): Evidence {
  const { notice, signs } = findings
  const find = (name: string | null) => prose.blocks.find(({ recipient }) => recipient === name)
  const block = find(group.actualRecipient) ?? find(group.recipient)
  const session = (text: string) => reduceTranscript(text, group.actualRecipient ?? group.recipient)
  const fallback: ReportedAction = signs.isDelay ? 'delayed' : 'failed'
  return {
    recipient: group.recipient === '' ? unnamed : group.recipient,
    originalRecipient: group.originalRecipient,
    action: group.action ?? fallback,
    status: group.status,
    texts: [
      readState(prose),
      completeReply(notice, group.diagnostic),
      session(block?.text ?? ''),
      group.comment,
    ],
    notice: session(isAlone || block === undefined ? notice : prose.preamble),
    remoteMta: group.remoteMta,
    isForeign: isForeign(group.actualRecipient ?? group.recipient, findings, reporter),
    command: group.command,
  }
}

/** The prose of a report without fields. Never without a recipient: one '' where none is named. */
export function readProseBounce(findings: Findings): Bounce {
  const { entities, original, notice, signs } = findings
  const root = entities[0]?.fields ?? []
  const headers = ['x-failed-recipients', 'x-mailer-daemon-recipients']
  const told = headers
    .map((name) => listFields(root, name).join(', '))
    .find((value) => value !== '')
  const prose = proseOf(findings, listAddresses(told ?? '', maxRecipients))
  const fallback = { recipient: original.recipients[0] ?? '', text: notice }
  const blocks = prose.blocks.length > 0 ? prose.blocks : [fallback]
  const recipients = blocks.map((block) =>
    classifyRecipient({
      ...proseEvidence(block, prose, signs),
      isForeign: isForeign(block.recipient, findings, null),
    }),
  )
  return { reportingMta: null, recipients }
}

function proseEvidence({ recipient, text }: Block, prose: Prose, signs: MessageKind): Evidence {
  const preamble = reduceTranscript(prose.preamble, recipient)
  const told = reduceTranscript(text || prose.preamble, recipient)
  return {
    recipient,
    originalRecipient: null,
    action: signs.isDelay ? 'delayed' : 'failed',
    status: null,
    texts: [readState({ preamble }), ...pickParagraphs(told), pickAbove(told, preamble)],
    notice: preamble,
  }
}

/** By the name of who reports, else by the address that the report comes from. */
function isForeign(recipient: string, { entities }: Findings, reporter: string | null): boolean {
  const from = findAddress(listFields(entities[0]?.fields ?? [], 'from')[0] ?? '') ?? ''
  const own = reporter ?? from.slice(from.lastIndexOf('@') + 1)
  const domain = recipient.slice(recipient.lastIndexOf('@') + 1)
  if (own === '' || domain === '') return false
  return organisationOf(own.toLowerCase()) !== organisationOf(domain)
}

function organisationOf(name: string): string {
  return getDomain(name) ?? name
}

function readState({ preamble }: Pick<Prose, 'preamble'>): string {
  return STATE_OF_ALL.exec(preamble)?.[0] ?? ''
}

/** The reply above the recipients, where nothing below tells one; '' without. */
function pickAbove(told: string, preamble: string): string {
  if (REPLY.test(told)) return ''
  return preamble.split(/\n\s*\n/, 40).find((one) => REPLY.test(one)) ?? ''
}

/** The paragraph with a reply in it before the whole, which may end in advice. */
function pickParagraphs(text: string): string[] {
  const paragraphs = text.split(/\n\s*\n/, 40)
  const spoken = paragraphs.find((one) => REPLY.test(one))
  return spoken === undefined || spoken === text ? [text] : [spoken, text]
}

function proseOf({ notice, entities }: Findings, known: readonly string[]): Prose {
  const to = listFields(entities[0]?.fields ?? [], 'to')[0] ?? ''
  return readProse(notice, { known, sender: findAddress(to) })
}
