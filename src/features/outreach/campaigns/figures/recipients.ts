/**
 * Lists the recipients of a campaign by cursor: all of them, or those of one outcome. Each outcome
 * has paths, which are stretches of an index that are read one after the other, newest email first.
 * Waiting mail and failures have indexes of their own; other outcomes are found by reading along
 * all emails of the campaign. A request reads a bounded number of rows, so a page of a rare outcome
 * may be short and still have a next one.
 */
import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import { unknownCursor } from '../../../../base/errors.ts'
import { sealCursor, unsealCursor } from '../../../../records/cursor.ts'
import { NO_REASON, type Reason } from '../../../../records/reason.ts'
import type { Statement } from '../../../../store/database.ts'
import { indexedBy, type NamedIndex, rowNumber } from '../../../../store/dialect.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import { isUuid } from '../../../../store/ids.ts'
import { onShelves, type Shelf } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import {
  addRowCounts,
  type CountedEnd,
  countStretches,
  type RowCount,
  withTotal,
} from '../../../ground/list-totals.ts'
import { type Listing, pageListing } from '../../../ground/listing.ts'
import { UNSUBSCRIBED } from '../../../mail/messages/delivery/prepare.ts'
import { reasonOfRow } from '../../../mail/messages/explain/row-reason.ts'
import { type CampaignKey, requireCampaign } from '../campaign.ts'
import { UNSUBSCRIBED_FIGURE } from './figures.ts'

export const OUTCOMES = [
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
  'failed',
  'skipped',
  'pending',
] as const
export type RecipientOutcome = (typeof OUTCOMES)[number]

type Recipient = {
  emailId: string
  contactId: string
  email: string
  /**
   * When the email reached the outcome of the list; in the list of all recipients, when the email
   * reached its status.
   */
  occurredAt: string
  status: string
  reason: string | null
}

type ListedRecipient = Recipient & (Reason | typeof NO_REASON)

/** `openedAt`, `clickedAt`: the first open and click by a person. */
export type ExportedRecipient = Recipient & {
  openedAt: string | null
  clickedAt: string | null
  clicks: number
}

type Key = 'number' | 'contact'
type PathFacts = {
  name: string
  index: NamedIndex
  /** The condition of the rows, with the literal terms of the partial index. */
  where: SQL
  /** The key by which the index orders its rows, which are read in reverse. */
  key: Key
  filter: SQL
  /** The instant at which the email reached the outcome. */
  at: SQL
}
type RecipientRow = {
  key: string | number
  id: string
  contactId: string
  recipient: string
  status: string
  error: string | null
  at: number | null
  createdAt: number
  openedAt: number | null
  clickedAt: number | null
  clicks: number
}
type RecipientPath = {
  /** The name of the path in cursors. */
  name: string
  key: Key
  findRow: Statement<Pick<RecipientRow, 'key'>>
  listRows: Statement<RecipientRow>
  countRows: Statement<{ count: number }>
  /** Finds the key of the last row of a stretch. */
  findEnd: Statement<Pick<RecipientRow, 'key'>>
}
/**
 * `path`: the place of a path in the list of paths. `after`: the key of the last row that was
 * looked at in this path; '' at its start.
 */
type RecipientPosition = { path: number; after: string }
/** `path`: the place of the row's path in the list of paths. */
type PlacedRow = { row: RecipientRow; path: number }
/**
 * `lane`: the name of a path; in cursors from before version 31 of the schema, the path's place in
 * the list.
 */
type SealedPosition = { lane: string | number; after: string; campaign: string }

/**
 * How many rows the first, second and further statements of a request look at. Most pages are full
 * after the first stretch; a campaign that is being sent may have as many rows in front as
 * `campaigns.rows_ahead`.
 */
const STRETCHES = [1_000, 4_000, 15_000, 30_000]
const EXPORTED_AT_ONCE = 1_000
const EXPORT_STRETCH = 5_000

const EVERY_EMAIL = sql`true`
const statusReachedAt = sql`case status when 'CLICKED' then clicked_at when 'OPENED' then opened_at
  when 'COMPLAINED' then complained_at when 'BOUNCED' then bounced_at
  when 'DELIVERED' then delivered_at when 'SENT' then sent_at end`
const unsubscribedAt = sql`(select max(events.created_at) from events ${indexedBy('events_contact')}
  where events.contact_id = emails.contact_id and events.name = 'contact.unsubscribed'
    and events.email_id = emails.id)`
const IS_UNSUBSCRIBED = sql`error = ${UNSUBSCRIBED}`

/** Keys beyond all others; `FIRST_KEYS` come before all others. */
const LAST_KEYS = { number: Number.MAX_SAFE_INTEGER, contact: '~' } as const
const FIRST_KEYS = { number: 0, contact: '' } as const

function makePath({ name, index, where, key, filter, at }: PathFacts): RecipientPath {
  const column = key === 'number' ? rowNumber() : sql`contact_id`
  const rows = sql`from emails ${indexedBy(index)}
    where campaign_id = ${parameter('campaignId')} and ${where} and ${column} < ${parameter('after')}`
  const selected = sql`select ${column} as key, id, contact_id as "contactId", recipient, status,
    error, ${at} as at, created_at as "createdAt", opened_at as "openedAt",
    clicked_at as "clickedAt", clicks ${rows}`
  return {
    ...{ name, key },
    listRows: statement(
      () => sql`${selected} and ${column} >= ${parameter('end')} and ${filter}
        order by ${column} desc limit ${parameter('limit')}`,
    ),
    countRows: statement(
      () =>
        sql`select count(*) as count ${rows} and ${column} >= ${parameter('end')} and ${filter}`,
    ),
    findRow: statement(
      () => sql`select ${column} as key from emails
        where id = ${parameter('id')} and campaign_id = ${parameter('campaignId')} and ${where}`,
    ),
    findEnd: statement(
      () => sql`select ${column} as key ${rows}
        order by ${column} desc limit 1 offset ${parameter('offset')}`,
    ),
  }
}

const walk = (filter: SQL, at: SQL) =>
  makePath({
    name: 'all',
    index: 'emails_campaign',
    where: EVERY_EMAIL,
    key: 'contact',
    filter,
    at,
  })
const onShelf = (shelf: Shelf, filter: SQL, at: SQL) =>
  makePath({
    ...{ name: shelf, index: 'emails_campaign_shelf', where: onShelves(shelf) },
    ...{ key: 'number', filter, at },
  })

const PENDING = ['deferred', 'queued', 'held', 'paused', 'pausedUntried'] as const
/** A path that only older cursors have. */
const FORMER_SENDING = 'sending'
/** The names of paths by their place in older cursors. */
const FORMER_PENDING = [FORMER_SENDING, 'deferred', 'queued', 'held', 'paused']

const ALL_RECIPIENTS: readonly RecipientPath[] = [walk(EVERY_EMAIL, statusReachedAt)]
const OUTCOME_PATHS: Record<RecipientOutcome, readonly RecipientPath[]> = {
  delivered: [walk(sql`delivered_at is not null and bounced_at is null`, sql`delivered_at`)],
  opened: [walk(sql`opened_at is not null`, sql`opened_at`)],
  clicked: [walk(sql`clicked_at is not null`, sql`clicked_at`)],
  bounced: [onShelf('bounced', EVERY_EMAIL, sql`bounced_at`)],
  complained: [onShelf('complained', EVERY_EMAIL, sql`complained_at`)],
  unsubscribed: [walk(sql`figures & ${UNSUBSCRIBED_FIGURE} <> 0`, unsubscribedAt)],
  failed: [onShelf('failed', sql`${IS_UNSUBSCRIBED} is not true`, sql`updated_at`)],
  skipped: [
    onShelf('suppressed', EVERY_EMAIL, sql`updated_at`),
    onShelf('failed', IS_UNSUBSCRIBED, sql`updated_at`),
  ],
  pending: PENDING.map((shelf) => onShelf(shelf, EVERY_EMAIL, sql`updated_at`)),
}

type RecipientQuery = CampaignKey & {
  outcome?: RecipientOutcome | undefined
  limit: number
  /** The cursor of an earlier page, or the `emailId` of its last item. */
  cursor?: string | undefined
}

type Deps = Pick<Base, 'store' | 'keyring' | 'listTotals'>

/** @throws AppError CAMPAIGN_NOT_FOUND, VALIDATION_ERROR for an invalid cursor */
export async function listRecipients(
  deps: Deps,
  query: RecipientQuery,
): Promise<Listing<ListedRecipient, CountedEnd>> {
  await requireCampaign(deps.store.read, query)
  const { id, limit } = query
  const paths = pathsOf(query.outcome)
  const found: PlacedRow[] = []
  let position: RecipientPosition | undefined = await findPosition(deps, query, paths)
  for (let index = 0; position !== undefined && index < STRETCHES.length; ) {
    const from: RecipientPosition = position
    const wanted = limit - found.length
    const stretch = STRETCHES[index] ?? 0
    const step: ReadRecipients = await readStretch(deps, id, {
      paths,
      position: from,
      wanted,
      stretch,
    })
    for (const row of step.rows) found.push({ row, path: from.path })
    position = step.next
    if (step.isFull) break
    // The last stretch of a path does not count: the next path begins with a stretch of the same
    // size.
    if (position?.path === from.path) index += 1
  }
  const seal = ({ path: at, after }: RecipientPosition) => {
    const place = { lane: paths[at]?.name ?? '', after, campaign: id } satisfies SealedPosition
    return sealCursor(deps, 'recipients', place)
  }
  const page = pageListing({
    lines: found,
    read: async (slice) => slice.map(({ row }) => toListed(row)),
    cursorOf: ({ row, path: at }) => seal({ path: at, after: String(row.key) }),
    endCursor: position === undefined ? null : seal(position),
  })
  return withTotal(deps, {
    page,
    cursor: query.cursor,
    whole: position === undefined ? found.length : undefined,
    query: { list: 'recipients', id, outcome: query.outcome },
    count: async () =>
      addRowCounts(deps, await Promise.all(paths.map((each) => countPath(deps, id, each)))),
  })
}

function countPath(
  { store, listTotals: { stretch } }: Deps,
  campaignId: string,
  path: RecipientPath,
): Promise<RowCount> {
  return countStretches<string>(async (place) => {
    const from = { campaignId, after: toKey(path, place ?? '') }
    const end = await store.scan.find(path.findEnd, { ...from, offset: stretch - 1 })
    const counted = await store.scan.find(path.countRows, {
      ...from,
      end: end?.key ?? FIRST_KEYS[path.key],
    })
    return { count: counted?.count ?? 0, end: end && String(end.key) }
  })
}

/** Yields all recipients of the outcome, some at a time. */
export async function* walkOutcomeRecipients(
  deps: Pick<Base, 'store'>,
  { id, outcome }: Pick<RecipientQuery, 'id' | 'outcome'>,
): AsyncGenerator<ExportedRecipient[]> {
  const paths = pathsOf(outcome)
  let position: RecipientPosition | undefined = { path: 0, after: '' }
  while (position !== undefined) {
    const size = { wanted: EXPORTED_AT_ONCE, stretch: EXPORT_STRETCH }
    const step: ReadRecipients = await readStretch(deps, id, { paths, position, ...size })
    yield step.rows.map(toExported)
    position = step.next
  }
}

function pathsOf(outcome: RecipientOutcome | undefined): readonly RecipientPath[] {
  return outcome === undefined ? ALL_RECIPIENTS : OUTCOME_PATHS[outcome]
}

/** `isFull`: as many rows were found as were wanted, and more match. */
type ReadRecipients = { rows: RecipientRow[]; isFull: boolean; next: RecipientPosition | undefined }
type RecipientStretch = {
  paths: readonly RecipientPath[]
  position: RecipientPosition
  wanted: number
  stretch: number
}

/** Reads up to `wanted` recipients from the next `stretch` rows of a path. */
async function readStretch(
  { store }: Pick<Base, 'store'>,
  campaignId: string,
  { paths, position, wanted, stretch }: RecipientStretch,
): Promise<ReadRecipients> {
  const { path: at, after } = position
  const path = paths[at]
  if (path === undefined) throw unknownCursor()
  const from = { campaignId, after: toKey(path, after) }
  const end = await store.scan.find(path.findEnd, { ...from, offset: stretch - 1 })
  const bounds = { ...from, end: end?.key ?? FIRST_KEYS[path.key], limit: wanted + 1 }
  const found = await store.scan.list(path.listRows, bounds)
  const rows = found.slice(0, wanted)
  const isFull = found.length > wanted
  if (isFull) {
    return { rows, isFull, next: { path: at, after: keyOf(rows) ?? after } }
  }
  return { rows, isFull, next: nextPosition(paths, at, end) }
}

function nextPosition(
  paths: readonly RecipientPath[],
  at: number,
  end: { key: string | number } | undefined,
): RecipientPosition | undefined {
  if (end !== undefined) return { path: at, after: String(end.key) }
  return at + 1 < paths.length ? { path: at + 1, after: '' } : undefined
}

function keyOf(rows: readonly RecipientRow[]): string | undefined {
  const key = rows.at(-1)?.key
  return key === undefined ? undefined : String(key)
}

function toKey({ key }: RecipientPath, after: string): string | number {
  if (after === '') return LAST_KEYS[key]
  return key === 'number' ? Number(after) : after
}

async function findPosition(
  deps: Deps,
  { id: campaignId, cursor }: RecipientQuery,
  paths: readonly RecipientPath[],
): Promise<RecipientPosition> {
  if (cursor === undefined) return { path: 0, after: '' }
  if (!isUuid(cursor)) {
    const sealed = unsealCursor(deps, 'recipients', cursor) as SealedPosition
    if (sealed.campaign !== campaignId) throw unknownCursor()
    return readPosition(paths, sealed)
  }
  for (const [at, each] of paths.entries()) {
    const row = await deps.store.read.find(each.findRow, { campaignId, id: cursor })
    if (row !== undefined) return { path: at, after: String(row.key) }
  }
  throw unknownCursor()
}

/** A cursor of another outcome may name a path that this one does not have. */
function readPosition(
  paths: readonly RecipientPath[],
  { lane: sealed, after }: SealedPosition,
): RecipientPosition {
  const name = typeof sealed === 'string' ? sealed : formerName(paths, sealed)
  // In older cursors, emails that are being sent had a path of their own, the first one; now the
  // other paths include them.
  if (name === FORMER_SENDING) return { path: 0, after: '' }
  const at = paths.findIndex((each) => each.name === name)
  const isOfPath = after === '' || isUuid(after) === (paths[at]?.key === 'contact')
  if (at === -1 || !isOfPath) throw unknownCursor()
  return { path: at, after }
}

function formerName(paths: readonly RecipientPath[], position: number): string | undefined {
  return paths === OUTCOME_PATHS.pending ? FORMER_PENDING[position] : paths[position]?.name
}

function toListed(row: RecipientRow): ListedRecipient {
  return { ...toRecipient(row), ...(reasonOfRow(row) ?? NO_REASON) }
}

function toExported(row: RecipientRow): ExportedRecipient {
  const { openedAt, clickedAt, clicks } = row
  const opens = { openedAt: formatOptionalInstant(openedAt) }
  return { ...toRecipient(row), ...opens, clickedAt: formatOptionalInstant(clickedAt), clicks }
}

function toRecipient({
  id,
  contactId,
  recipient,
  status,
  error,
  at,
  createdAt,
}: RecipientRow): Recipient {
  return {
    emailId: id,
    contactId,
    email: recipient,
    occurredAt: formatInstant(at ?? createdAt),
    status,
    reason: error ?? (status === 'SUPPRESSED' ? 'the address is suppressed' : null),
  }
}
