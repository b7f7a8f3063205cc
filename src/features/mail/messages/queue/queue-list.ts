/**
 * Lists and counts the mail of the queue, on the scan threads. Mail on its way is found through the
 * four partial indexes of `emails`: their terms are repeated as literals, because SQLite does not
 * match parameters with the terms of an index. The statements name the index; otherwise SQLite
 * would read the table to get the order by row number. Mail to one recipient is found through the
 * contacts of that address. Mail on its way to the recipient is found through the partial indexes
 * as well, because the address of a contact may have changed since.
 */
import { parseDomain } from '../../../../formats/address/address.ts'
import { indexedBy, type NamedIndex, orderedJoin, rowNumber } from '../../../../store/dialect.ts'
import {
  and,
  eq,
  inArray,
  ne,
  type SQL,
  type SQLiteColumn,
  sql,
} from '../../../../store/drizzle.ts'
import { type Email, emails } from '../../../../store/schema/messages.ts'
import type { QueueState } from '../../../../store/schema/words.ts'
import { onShelves } from '../../../../store/shelves.ts'
import type { Base } from '../../../ground/base.ts'
import { EXPLAINED_COLUMNS, type ExplainedEmail } from '../explain/facts.ts'
import { ANY_CLASS_TERM } from './any-class.ts'
import { isPausedOfAny } from './waiting-mail.ts'

export type QueueSelection = {
  /** `ended`: in any final state. */
  state?: QueueState | 'ended' | undefined
  /** The recipient domain, in A-labels. */
  domain?: string | undefined
  /** The domain of the From address. */
  senderDomain?: string | undefined
  /** The recipient's address, in the form of `ParsedAddress.address`. */
  recipient?: string | undefined
  projectId?: string | undefined
  limit?: number | undefined
}

export type QueuedEmail = ExplainedEmail & Pick<Email, 'fromAddress' | 'subject'>

export const queueStates: readonly QueueState[] = [
  'queued',
  'deferred',
  'held',
  'paused',
  'sending',
  'delivered',
  'relayed',
  'bounced',
  'failed',
  'suppressed',
]

const END_STATES = ['delivered', 'relayed', 'bounced', 'failed', 'suppressed'] as const

type QueuePart = { index: NamedIndex; term: SQL }

const WAITING: QueuePart = {
  index: 'emails_ready',
  term: sql.raw(`due_at is not null and ${ANY_CLASS_TERM}`),
}

const SENDING: QueuePart = { index: 'emails_leased', term: sql`lease_until is not null` }

const HELD: QueuePart = { index: 'emails_held', term: onShelves('held') }

const PAUSED: QueuePart = { index: 'emails_parked', term: isPausedOfAny() }

const ON_THE_WAY: Partial<Record<QueueState, QueuePart>> = {
  queued: WAITING,
  deferred: WAITING,
  sending: SENDING,
  held: HELD,
  paused: PAUSED,
}

/** Finished mail has no index: it is searched in pages of this many rows, newest first. */
const PAGE = 20_000

const MAX_SEARCHED = 1_000_000

/** The number of newest emails that are searched for a recipient without a contact. */
const MAX_SEARCHED_FOR_RECIPIENT = 100_000

const columns = {
  ...EXPLAINED_COLUMNS,
  fromAddress: emails.fromAddress,
  subject: emails.subject,
} satisfies Record<keyof QueuedEmail, unknown>

type Deps = Pick<Base, 'store'>

export type EndedCount = {
  /** By state, among the newest emails that were searched. */
  counts: { state: QueueState; count: number }[]
  /** The number of newest emails that were searched; null if all were. */
  searchedRows: number | null
}

/**
 * Lists emails, newest first. Without a state: all mail to the recipient of the selection, else mail
 * on its way. Emails in a final state are searched among the newest million.
 */
export async function listQueue(deps: Deps, selection: QueueSelection): Promise<QueuedEmail[]> {
  if (selection.recipient !== undefined) return listOfRecipient(deps, selection)
  if (isOfEnded(selection)) return listEnded(deps, selection, MAX_SEARCHED)
  return listRows(deps, isOnTheWay(selection), limitOf(selection))
}

/**
 * Counts matching emails without the limit; null if their number is unknown, because finished mail
 * has no index.
 */
export async function countListed(
  { store }: Deps,
  selection: QueueSelection,
): Promise<number | null> {
  if (selection.recipient === undefined && isOfEnded(selection)) return null
  const { count } = await store.scan.get<{ count: number }>(listedCount(selection))
  // The recipient has no contact: `listQueue` searches the newest emails instead.
  return count === 0 ? null : count
}

export function listedCount(selection: QueueSelection): SQL {
  const rows = selection.recipient === undefined ? queueRows(selection) : recipientRows(selection)
  return sql`select count(*) as count from (${rows})`
}

/** The number of the newest email: rows are numbered in the order of their acceptance. */
export function newestNumber(): SQL {
  return sql`select max(${rowNumber()}) as number from emails`
}

export function isNumbered({ from, before }: { from: number; before: number }): SQL {
  return sql`${rowNumber()} >= ${from} and ${rowNumber()} < ${before}`
}

/** Returns the condition for mail on its way, in the state of the selection or in any. */
export function isOnTheWay(selection: QueueSelection): SQL {
  return isAmong(queueRows(selection), selection)
}

/** The condition for all mail to one recipient. */
export function isToRecipient(selection: QueueSelection): SQL {
  return isAmong(recipientRows(selection), selection)
}

/** Counts finished mail by state, on the newest page that has any. */
export async function countEnded({ store }: Deps, selection: QueueSelection): Promise<EndedCount> {
  const [newest] = await store.scan.all<{ number: number | null }>(newestNumber())
  const last = newest?.number ?? 0
  const end = Math.max(0, last - MAX_SEARCHED)
  for (let before = last + 1; before > end; before -= PAGE) {
    const rows = await store.scan.all<EndedCount['counts'][number]>(endedCounts(selection, before))
    const counts = END_STATES.flatMap((state) => rows.filter((row) => row.state === state))
    if (counts.length === 0) continue
    return { counts, searchedRows: before > PAGE ? last + 1 - before + PAGE : null }
  }
  return { counts: [], searchedRows: null }
}

export function endedCounts(selection: QueueSelection, before: number): SQL {
  const ended = { ...selection, state: 'ended' as const }
  return sql`select state, count(*) as count from emails
    where ${and(isNumbered({ from: before - PAGE, before }), matches(ended))} group by state`
}

/**
 * Counts the emails on their way, by state; with `to`, only those to addresses that begin with this
 * text.
 */
export async function countQueue(
  { store }: Deps,
  to?: string,
): Promise<{ state: QueueState; count: number }[]> {
  const counts = await store.scan.get<Record<string, number>>(queueCounts(to))
  return queueStates.flatMap((state) => {
    const count = counts[state] ?? 0
    return count === 0 ? [] : [{ state, count }]
  })
}

export function queueCounts(to?: string): SQL {
  const isWanted = to === undefined ? sql`` : sql`and ${beginsWith(emails.recipient, to)}`
  return sql`select * from
    (select count(*) filter (where state = 'queued') as queued,
      count(*) filter (where state = 'deferred') as deferred
      from emails where due_at is not null ${isWanted}),
    (select count(*) as sending from emails where lease_until is not null ${isWanted}),
    (select count(*) as held from emails where ${onShelves('held')} ${isWanted}),
    (select count(*) as paused from emails ${indexedBy('emails_parked')}
      where ${isPausedOfAny()} ${isWanted})`
}

/** Whether an address begins with this text; case does not matter, and no character is special. */
export function beginsWith(address: SQLiteColumn, start: string): SQL {
  const wanted = start.toLowerCase()
  return sql`substr(lower(${address}), 1, ${Array.from(wanted).length}) = ${wanted}`
}

function isOfEnded({ state }: QueueSelection): boolean {
  return state === 'ended' || (state !== undefined && ON_THE_WAY[state] === undefined)
}

async function listOfRecipient(deps: Deps, selection: QueueSelection): Promise<QueuedEmail[]> {
  const found = await listRows(deps, isToRecipient(selection), limitOf(selection))
  return found.length > 0 ? found : listEnded(deps, selection, MAX_SEARCHED_FOR_RECIPIENT)
}

async function listEnded(
  { store }: Deps,
  selection: QueueSelection,
  maxRows: number,
): Promise<QueuedEmail[]> {
  const found: QueuedEmail[] = []
  const [newest] = await store.scan.all<{ number: number | null }>(newestNumber())
  let before = (newest?.number ?? 0) + 1
  const end = Math.max(0, before - maxRows)
  while (before > end && found.length < limitOf(selection)) {
    const page = and(matches(selection), isNumbered({ from: before - PAGE, before }))
    found.push(...(await listRows({ store }, page, limitOf(selection) - found.length)))
    before -= PAGE
  }
  return found
}

function listRows(
  { store }: Deps,
  condition: SQL | undefined,
  limit: number,
): Promise<QueuedEmail[]> {
  return store.scan
    .select(columns)
    .from(emails)
    .where(condition)
    .orderBy(sql`${rowNumber()} desc`)
    .limit(limit)
    .all()
}

function queueRows(selection: QueueSelection): SQL {
  return sql.join(onTheWayRows(selection), sql` union all `)
}

function recipientRows(selection: QueueSelection): SQL {
  const ofContacts = sql`select ${rowNumber('emails')} as number
    from contacts ${indexedBy('contacts_address')}
    ${orderedJoin()} emails ${indexedBy('emails_contact')} on emails.contact_id = contacts.id
    where contacts.project_id in (select id from projects where deleted_at is null) and contacts.email = ${selection.recipient}
      and ${matches(selection)}`
  const domain = selection.recipient?.split('@').at(-1)
  const parsed = domain === undefined ? undefined : parseDomain(domain)
  const rows = [ofContacts, ...onTheWayRows({ ...selection, domain: parsed })]
  return sql.join(rows, sql` union `)
}

function onTheWayRows(selection: QueueSelection): SQL[] {
  const { state } = selection
  const known = state === undefined || state === 'ended' ? undefined : ON_THE_WAY[state]
  const parts = known === undefined ? [WAITING, SENDING, HELD, PAUSED] : [known]
  return parts.map(
    ({ index, term }) => sql`select ${rowNumber()} as number from emails ${indexedBy(index)}
      where ${and(term, matches(selection))}`,
  )
}

function isAmong(rows: SQL, selection: QueueSelection): SQL {
  return sql`${rowNumber()} in (select number from (${rows})
    order by number desc limit ${limitOf(selection)})`
}

/** Returns the condition for the mail of a selection. Received mail is never listed. */
function matches({ state, domain, senderDomain, recipient, projectId }: QueueSelection): SQL {
  const sender = `@${senderDomain}`
  const conditions = [
    state === undefined || state === 'ended' ? undefined : eq(emails.state, state),
    state === 'ended' ? inArray(emails.state, [...END_STATES]) : undefined,
    domain === undefined ? undefined : eq(emails.recipientDomain, domain),
    recipient === undefined ? undefined : eq(emails.recipient, recipient),
    projectId === undefined ? undefined : eq(emails.projectId, projectId),
    senderDomain === undefined
      ? undefined
      : sql`substr(${emails.fromAddress}, ${-Array.from(sender).length}) = ${sender}`,
  ]
  return and(ne(emails.state, 'received'), ...conditions) ?? sql`true`
}

function limitOf({ limit = 1_000 }: QueueSelection): number {
  return limit
}
