/**
 * Lists the contacts of a segment in pages: of a static segment its members, latest entry first; of
 * a dynamic segment the contacts that match its condition now, newest first.
 */
import { invalidField } from '../../../base/errors.ts'
import type { ContactRecord } from '../../../records/contact.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../../records/limits.ts'
import { indexedBy, orderedJoin } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { Segment } from '../../../store/schema/segments.ts'
import type { Base } from '../../ground/base.ts'
import { type Listing, wholeListing } from '../../ground/listing.ts'
import { countInRange } from '../contacts/list/count.ts'
import { type NumberRange, walkNumberRanges } from '../contacts/list/number-ranges.ts'
import { selectByNumber } from '../contacts/list/queries.ts'
import { dataBytesOf, readContacts } from '../contacts/list/read-contacts.ts'
import { type ContactHead, contactColumns, selectHeads } from '../contacts/list/row.ts'
import type { ContactScope } from '../contacts/list/scope.ts'
import { contactScopeOf } from './contact-scope.ts'
import { type CountDeps, findRecentCount } from './count.ts'
import { loadSegment } from './get.ts'
import type { SegmentKey } from './view.ts'

type SegmentContactQuery = SegmentKey & {
  /** Counts from 1; the first page if absent. */
  page?: number | undefined
  /** 20 if absent, at most 100. */
  pageSize?: number | undefined
}

/** `total`: at most five minutes old, while the list is current. */
type SegmentContacts = { listing: Listing<ContactRecord, object>; total: number }

type Range = { limit: number; offset: number }

/** @throws AppError RESOURCE_NOT_FOUND; VALIDATION_ERROR for a page or page size below 1 */
export async function listSegmentContacts(
  deps: CountDeps,
  { page = 1, pageSize: requestedSize = DEFAULT_PAGE_SIZE, ...key }: SegmentContactQuery,
): Promise<SegmentContacts> {
  const pageSize = Math.min(readCount('pageSize', requestedSize), MAX_PAGE_SIZE)
  const range = { limit: pageSize, offset: (readCount('page', page) - 1) * pageSize }
  const segment = await loadSegment(deps.store.read, key)
  const lines = await findPage(deps, segment, range)
  const read = (slice: readonly ContactHead[]) => readContacts(deps, slice)
  return {
    listing: wholeListing({ lines, bytesOf: dataBytesOf, read }),
    total: await findRecentCount(deps, segment),
  }
}

async function findPage(
  deps: Pick<Base, 'store' | 'now'>,
  segment: Segment,
  range: Range,
): Promise<ContactHead[]> {
  if (segment.type === 'STATIC') {
    return deps.store.scan.values(selectHeads(selectMembers(segment.id, range)))
  }
  return findMatching(deps, await contactScopeOf(deps, segment), range)
}

/** Counts the contacts before the page, one range of numbers at a time, then reads the page. */
async function findMatching(
  deps: Pick<Base, 'store'>,
  scope: ContactScope,
  { limit, offset }: Range,
): Promise<ContactHead[]> {
  const rows: ContactHead[] = []
  let before = offset
  const readRange = async (numberRange: NumberRange): Promise<void> => {
    const passed = before === 0 ? 0 : await countInRange(deps, scope, { numberRange })
    if (passed <= before && before > 0) {
      before -= passed
      return
    }
    const options = { dir: 'desc' as const, limit: limit - rows.length, numberRange }
    const page = sql`${selectByNumber(scope, options)} offset ${before}`
    rows.push(...(await deps.store.scan.values<ContactHead>(selectHeads(page))))
    before = 0
  }
  for await (const _ of walkNumberRanges(deps, { scope, range: { dir: 'desc' } }, readRange)) {
    if (rows.length === limit) break
  }
  return rows
}

/** Takes the page from the index before it reads any contact. */
function selectMembers(segmentId: string, { limit, offset }: Range): SQL {
  return sql`select ${contactColumns} from (
      select contact_id, entered_at from segment_members ${indexedBy('segment_members_newest')}
      where segment_id = ${segmentId} and exited_at is null
      order by entered_at desc, contact_id desc limit ${limit} offset ${offset}
    ) as member ${orderedJoin()} contacts on contacts.id = member.contact_id
    order by member.entered_at desc, member.contact_id desc`
}

function readCount(field: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw invalidField(field, 'too_small', 'Must be at least 1')
}
