/**
 * Lists the contacts of a segment in pages: of a static segment its members, latest entry first; of
 * a dynamic segment the contacts that match its condition now, newest first. Also counts them: the
 * count of a dynamic segment is refreshed from time to time, on a scan thread; the count of a
 * static segment changes with its members, and is only corrected here.
 */
import { invalidField } from '../../../base/errors.ts'
import type { ContactRecord } from '../../../records/contact.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../../records/limits.ts'
import { indexedBy, orderedJoin } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { type Segment, segments } from '../../../store/schema/segments.ts'
import type { Base } from '../../ground/base.ts'
import { type Listing, wholeListing } from '../../ground/listing.ts'
import { countContacts, countInRange } from '../contacts/list/count.ts'
import { type NumberRange, walkNumberRanges } from '../contacts/list/number-ranges.ts'
import { selectByNumber } from '../contacts/list/queries.ts'
import { dataBytesOf, readContacts } from '../contacts/list/read-contacts.ts'
import { type ContactHead, contactColumns, selectHeads } from '../contacts/list/row.ts'
import type { ContactScope } from '../contacts/list/scope.ts'
import type { SeenChanges } from './caused-changes.ts'
import { contactScopeOf } from './contact-scope.ts'
import { afterRuleChange, findRuleChange } from './rule-change.ts'
import { findSegment, hasConditionOf, isSegment, loadSegment, type SegmentKey } from './segments.ts'

type SegmentContactQuery = SegmentKey & {
  /** Counts from 1; the first page if absent. */
  page?: number | undefined
  /** 20 if absent, at most 100. */
  pageSize?: number | undefined
}

/** `total`: a count that is at most five minutes old, although the list itself is current. */
type SegmentContacts = { listing: Listing<ContactRecord, object>; total: number }

type MemberRange = { limit: number; offset: number }

type CountDeps = Pick<Base, 'store' | 'sharedRuns' | 'now'>

/** The maximum age of a dynamic segment's count that is used as the total of a list. */
const MAX_AGE_MS = 300_000

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

/** Counts again. @throws AppError RESOURCE_NOT_FOUND; BAD_REQUEST for an invalid condition */
export async function refreshSegment(
  deps: CountDeps,
  key: SegmentKey,
): Promise<{ memberCount: number }> {
  return { memberCount: await countSegment(deps, await loadSegment(deps.store.read, key)) }
}

/**
 * Counts, and saves the count unless the condition has changed meanwhile. Concurrent calls share
 * one run, which reads the segment when it starts, because the last caller may have just changed
 * it.
 */
export async function countSegment(deps: CountDeps, key: SegmentKey): Promise<number> {
  return deps.sharedRuns.take(`count ${key.id}`, async () => {
    const segment = await loadSegment(deps.store.read, key)
    return segment.type === 'STATIC' ? correctCount(deps, segment) : countMatches(deps, segment)
  })
}

/** Returns false when the condition has changed since the count, or the segment was deleted. */
export async function saveCount(
  { store }: Pick<Base, 'store'>,
  counted: Segment,
  count: Pick<Segment, 'memberCount' | 'countedAt'> &
    ReturnType<typeof afterRuleChange> &
    Partial<SeenChanges>,
): Promise<boolean> {
  return store.write(async (tx) => {
    const current = await findSegment(tx, counted)
    if (current === undefined || !hasConditionOf(current, counted)) return false
    await tx.update(segments).set(count).where(isSegment(counted))
    return true
  })
}

async function findPage(
  deps: Pick<Base, 'store' | 'now'>,
  segment: Segment,
  range: MemberRange,
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
  { limit, offset }: MemberRange,
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
function selectMembers(segmentId: string, { limit, offset }: MemberRange): SQL {
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

/** Returns a count that is at most five minutes old. Concurrent calls share one count. */
async function findRecentCount(deps: CountDeps, segment: Segment): Promise<number> {
  if (isRecent(deps, segment)) return segment.memberCount
  return deps.sharedRuns.take(`total ${segment.id}`, async () => {
    const current = await loadSegment(deps.store.read, segment)
    return isRecent(deps, current) ? current.memberCount : countSegment(deps, current)
  })
}

function isRecent({ now }: CountDeps, { type, countedAt }: Segment): boolean {
  return type === 'STATIC' || now() - (countedAt ?? 0) <= MAX_AGE_MS
}

async function countMatches(deps: CountDeps, segment: Segment): Promise<number> {
  const countedAt = deps.now()
  const scope = await contactScopeOf(deps, segment)
  const memberCount = await countContacts(deps, scope)
  const rules = await findRules(deps, segment, { memberCount, at: countedAt })
  await saveCount(deps, segment, { memberCount, countedAt, ...rules })
  return memberCount
}

/** A segment with membership events gets new rules with the next computation. */
async function findRules(
  deps: CountDeps,
  segment: Segment,
  { memberCount, at }: { memberCount: number; at: number },
): Promise<ReturnType<typeof afterRuleChange>> {
  const change = segment.hasMembershipEvents ? undefined : await findRuleChange(deps, segment)
  if (change === undefined) return {}
  const { projectId } = segment
  const isTouched =
    change.changed !== undefined &&
    memberCount !== segment.memberCount &&
    (await countContacts(deps, { projectId, condition: change.changed.isTouched })) > 0
  return afterRuleChange(segment, change, { memberCount, at, isTouched })
}

/** Both numbers come from one snapshot, so concurrent changes of the count stay. */
async function correctCount({ store, now }: CountDeps, { id }: Segment): Promise<number> {
  const [row] = await store.scan.all<{ counted: number; surplus: number }>(
    sql`select counted, counted - member_count as surplus
      from segments, (select count(*) as counted from segment_members
        ${indexedBy('segment_members_newest')} where segment_id = ${id} and exited_at is null)
      where id = ${id}`,
  )
  const { counted, surplus } = row ?? { counted: 0, surplus: 0 }
  const memberCount = sql`${segments.memberCount} + ${surplus}`
  await store.write((tx) =>
    tx.update(segments).set({ memberCount, countedAt: now() }).where(sql`${segments.id} = ${id}`),
  )
  return counted
}
