/**
 * Reads delivery status notifications (RFC 3464, RFC 6533): a group of fields for the message, then
 * one for each recipient. Missing blank lines, address types and Final-Recipient fields are
 * tolerated.
 */

import { MAX_SHOWN_ADDRESS_LENGTH } from '../limits.ts'
import { type Field, findField, readFields } from '../parse/fields.ts'
import { findAddress, readTypedAddress } from '../parse/find-address.ts'
import type { Stage } from '../replies/reply.ts'
import { isVague } from './diagnostic.ts'
import { MAX_READ_RECIPIENTS, type ReportedAction } from './reported-recipient.ts'

export type StatusGroup = {
  recipient: string
  originalRecipient: string | null
  /** The real address, if `recipient` is an alias. */
  actualRecipient: string | null
  action: ReportedAction | null
  status: string | null
  /** The comment after the status code, in prose. */
  comment: string
  /** The diagnostic without its type, such as `smtp;`. */
  diagnostic: string
  /** The name of the replying server; null if the report has none. */
  remoteMta: string | null
  /** The command that the server replied to, if a field implies one. */
  command: Stage | null
}

export type DeliveryStatus = { reportingMta: string | null; groups: StatusGroup[] }

const MAX_COMMENT_LENGTH = 500

const ACTIONS: Readonly<Record<string, ReportedAction>> = {
  failed: 'failed',
  failure: 'failed',
  fail: 'failed',
  error: 'failed',
  bounced: 'failed',
  expired: 'failed',
  deferred: 'delayed',
  delayed: 'delayed',
  delay: 'delayed',
  delivered: 'delivered',
  deliverable: 'delivered',
  relayed: 'relayed',
  expanded: 'expanded',
}

/**
 * PowerMTA's category of a refusal (`X-PowerMTA-BounceCategory`) -> a text that the reply rules
 * match.
 */
const POWERMTA_CATEGORIES: Readonly<Record<string, string>> = {
  'bad-domain': 'unknown domain',
  'bad-mailbox': 'unknown mailbox',
  'inactive-mailbox': 'mailbox disabled',
  'message-expired': 'message expired',
  'no-answer-from-host': 'no route to host',
  'policy-related': 'policy violation',
  'quota-issues': 'mailbox full',
  'routing-errors': 'routing loop',
  'spam-related': 'spam detected',
}

export function isDeliveryStatus(type: string): boolean {
  return /^message\/(?:x-)?(?:global-)?delivery-?status$/.test(type)
}

/** Whether a plain text contains the fields of a delivery status. */
export function hasStatusFields(text: string): boolean {
  return (
    /^[ \t]{0,9}(?:final|original)-recipient:/im.test(text) &&
    /^[ \t]{0,9}(?:action|status|diagnostic-code):/im.test(text)
  )
}

export function readDeliveryStatus(text: string): DeliveryStatus {
  const sets = listSets(text)
  const reportingMta = sets.map((fields) => findField(fields, 'reporting-mta')).find(Boolean)
  const groups = sets.filter(isRecipientSet).slice(0, MAX_READ_RECIPIENTS).map(readGroup)
  return { reportingMta: reportingMta?.replace(/^\s*[\w-]{1,20}\s*;\s*/, '') ?? null, groups }
}

/**
 * Splits fields into groups: at blank lines, and also where a group would contain two recipients.
 */
function listSets(text: string): Field[][] {
  return text
    .split(/\n[ \t]*\n/)
    .flatMap((block) =>
      splitSet(readFields(block.replace(/^[ \t]{1,9}(?=[\w-]{3,40}:)/, ''), true)),
    )
}

function splitSet(fields: Field[]): Field[][] {
  const sets: Field[][] = []
  let seen = new Set<string>()
  for (const field of fields) {
    if (sets.length === 0 || (seen.has(field.name) && isRecipientField(field.name))) {
      sets.push([])
      seen = new Set()
    }
    seen.add(field.name)
    sets.at(-1)?.push(field)
  }
  return sets
}

function isRecipientField(name: string): boolean {
  return name === 'final-recipient' || name === 'original-recipient'
}

function isRecipientSet(fields: Field[]): boolean {
  const hasOutcome = ['action', 'status', 'diagnostic-code'].some(
    (name) => findField(fields, name) !== undefined,
  )
  return (
    hasOutcome && fields.some(({ name }) => isRecipientField(name) || name === 'x-actual-recipient')
  )
}

function readGroup(fields: Field[]): StatusGroup {
  const value = (name: string) => findField(fields, name) ?? ''
  const final = readTypedAddress(value('final-recipient'))
  const original = readTypedAddress(value('original-recipient'))
  const actual = readTypedAddress(value('x-actual-recipient'))
  const status = /[245]\.\d{1,3}\.\d{1,3}/.exec(value('status'))?.[0] ?? null
  const diagnostic = value('diagnostic-code').replace(/^\s*(?!x-unix)[\w.-]{1,60}\s*;\s*/i, '')
  const category = value('x-powermta-bouncecategory')
  const [word = ''] = value('action')
    .toLowerCase()
    .split(/[^a-z]/, 1)
  return {
    recipient: final ?? original ?? actual ?? rawRecipient(value('final-recipient')),
    originalRecipient: original ?? null,
    actualRecipient: actual ?? null,
    action: ACTIONS[word] ?? guessAction(status),
    status,
    comment: `${value('status').replace(status ?? '', '')} ${POWERMTA_CATEGORIES[category] ?? ''}`
      .slice(0, MAX_COMMENT_LENGTH)
      .replace(/[()]/g, ' '),
    diagnostic: isVague(status) && diagnostic === '' ? value('x-supplementary-info') : diagnostic,
    remoteMta: value('remote-mta').replace(/^\s*[\w-]{1,20}\s*;\s*/, '') || null,
    command: category === 'bad-mailbox' ? 'rcpt' : null,
  }
}

/** The first word of a recipient that is not an Internet address, such as an X.400 address. */
function rawRecipient(value: string): string {
  const text = value
    .replace(/^\s*[\w-]{1,40}\s*;\s*/, '')
    .trim()
    .toLowerCase()
  if (text.startsWith('@')) return ''
  const [word = ''] = text.replace(/^[<\s]{1,10}/, '').split(/[\s<>]/, 1)
  return findAddress(text) ?? word.slice(0, MAX_SHOWN_ADDRESS_LENGTH)
}

function guessAction(status: string | null): ReportedAction | null {
  if (status === null) return null
  return status.startsWith('2') ? 'delivered' : status.startsWith('4') ? 'delayed' : 'failed'
}
