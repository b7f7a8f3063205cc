/** A report of delivery: from its fields where it has some, else from its prose. */
import type { ReportedAction, ReportedRecipient } from '../report.ts'
import {
  type DeliveryStatus,
  hasStatusFields,
  isDeliveryStatus,
  type StatusGroup,
} from './delivery-status.ts'
import { type Entity, readText } from './entity.ts'
import { listFields } from './fields.ts'
import { type Block, type Prose, readProse } from './free-form.ts'
import { type Evidence, judge } from './judge.ts'
import { findAddress, listAddresses } from './mailbox.ts'
import type { Original } from './original.ts'
import type { Signs } from './signs.ts'

export type Bounce = { reportingMta: string | null; recipients: ReportedRecipient[] }

/** What is known of a message by the time its recipients are looked for. */
export type Findings = {
  entities: readonly Entity[]
  notice: string
  signs: Signs
  original: Original
}

const maxRecipients = 50

/** Above the recipients, of each of whom the reply then says no more than `user unknown` (au). */
const stateOfAll = /^\s{0,20}the user\(s\) account is\b[^\n]{0,120}/im

/** The text of every delivery status: parts of that type, else fields in plain text. */
export function listStatusTexts(entities: readonly Entity[], notice: string): string[] {
  const own = entities.filter(({ type, level }) => level === 0 && isDeliveryStatus(type))
  if (own.length > 0) return own.map(readText)
  if (hasStatusFields(notice)) return [notice]
  // A filter on the way that wraps the report it passes on.
  const inner = entities.filter(({ type, level }) => level === 1 && isDeliveryStatus(type))
  return inner.slice(0, 1).map(readText)
}

export function readStatusBounce(statuses: readonly DeliveryStatus[], findings: Findings): Bounce {
  const groups = statuses.flatMap((status) => status.groups).slice(0, maxRecipients)
  const known = groups.map(({ recipient }) => recipient).filter((one) => one !== '')
  const prose = proseOf(findings, known)
  const isNameless = known.length < groups.length
  const guess = isNameless ? (proseOf(findings, []).blocks[0]?.recipient ?? '') : ''
  const unnamed = guess === '' ? (findings.original.recipients[0] ?? '') : guess
  const recipients = groups.map((group) => judge(evidenceOf({ group, prose, unnamed }, findings)))
  return { reportingMta: statuses.map((one) => one.reportingMta).find(Boolean) ?? null, recipients }
}

/** `unnamed`: who it was where the group does not say. */
type Told = { group: StatusGroup; prose: Prose; unnamed: string }

function evidenceOf({ group, prose, unnamed }: Told, { notice, signs }: Findings): Evidence {
  const block = prose.blocks.find(({ recipient }) => recipient === group.recipient)
  const fallback: ReportedAction = signs.isDelay ? 'delayed' : 'failed'
  return {
    recipient: group.recipient === '' ? unnamed : group.recipient,
    originalRecipient: group.originalRecipient,
    action: group.action ?? fallback,
    status: group.status,
    texts: [readState(prose), group.diagnostic, block?.text ?? '', group.comment],
    notice,
    remoteMta: group.remoteMta,
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
  const recipients = blocks.map((block) => judge(proseEvidence(block, prose, signs)))
  return { reportingMta: null, recipients }
}

function proseEvidence({ recipient, text }: Block, { preamble }: Prose, signs: Signs): Evidence {
  return {
    recipient,
    originalRecipient: null,
    action: signs.isDelay ? 'delayed' : 'failed',
    status: null,
    texts: [readState({ preamble }), ...pickParagraphs(text || preamble)],
    notice: preamble,
  }
}

function readState({ preamble }: Pick<Prose, 'preamble'>): string {
  return stateOfAll.exec(preamble)?.[0] ?? ''
}

/** The paragraph with a reply in it before the whole, which may end in advice. */
function pickParagraphs(text: string): string[] {
  const paragraphs = text.split(/\n\s*\n/, 40)
  const spoken = paragraphs.find((one) =>
    /(?<![\d.])[245]\d\d[ -]|[245]\.\d{1,3}\.\d{1,3}|said:|<<</.test(one),
  )
  return spoken === undefined || spoken === text ? [text] : [spoken, text]
}

function proseOf({ notice, entities }: Findings, known: readonly string[]): Prose {
  const to = listFields(entities[0]?.fields ?? [], 'to')[0] ?? ''
  return readProse(notice, { known, sender: findAddress(to) })
}
