/**
 * Adds contacts to a static segment and removes them, by address. No events are recorded. Each
 * transaction takes some addresses and updates the segment's count. An interrupted call has changed
 * only some of the members and may be repeated.
 *
 * The members of a deleted segment are deleted by a job.
 */
import { AppError, type FieldError, invalid, invalidField } from '../../../base/errors.ts'
import type { ParsedAddress } from '../../../formats/address/address.ts'
import { parseShownAddress } from '../../../formats/address/named-mailbox.ts'
import { MAX_ADDRESSES_PER_REQUEST } from '../../../records/limits.ts'
import { sql } from '../../../store/drizzle.ts'
import { segments } from '../../../store/schema/segments.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { RunningJob } from '../../../work/jobs/run.ts'
import { type SweepPace, sweep, sweepPages } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import { findKnownAddresses } from '../contacts/read/known-addresses.ts'
import { upsertContacts } from '../contacts/write/upsert.ts'
import { endMemberships, startMemberships } from './member-rows.ts'
import { isSegment, loadSegment, type SegmentKey } from './segments.ts'

type MemberChange = SegmentKey & { emails: readonly string[] }
type NewMembers = MemberChange & {
  /** Whether to create contacts for unknown addresses. */
  createMissing?: boolean | undefined
  /** The state of created contacts; true if absent. A person who left stays unsubscribed. */
  subscribed?: boolean | undefined
}

type AddedMembers = {
  /** Contacts of the given addresses that are members now, whether new, created or earlier members. */
  added: number
  created: number
  /** Unknown addresses, as the request spells them. */
  notFound: string[]
}

/** `text`: the address as the request spells it. */
type MemberAddress = { address: ParsedAddress; text: string }
type Deps = Pick<Base, 'store' | 'now'>

/** A transaction takes 100 addresses; most of its time goes into creating contacts. */
const PACE: SweepPace = { rows: 100, rest: 'none' }

/** The number of member rows that a transaction deletes, in about 10 ms. */
const DELETED_AT_ONCE = 500
const DELETION_PACE: SweepPace = { rows: DELETED_AT_ONCE, rest: 'none' }

const deleteMemberBatch = statement(
  () => sql`delete from segment_members
    where segment_id = ${parameter('segmentId')} and contact_id in (
      select contact_id from segment_members
      where segment_id = ${parameter('segmentId')} limit ${sql.raw(String(DELETED_AT_ONCE))})`,
)

/** @throws AppError VALIDATION_ERROR; RESOURCE_NOT_FOUND; BAD_REQUEST for a DYNAMIC segment */
export async function addMembers(deps: Deps, input: NewMembers): Promise<AddedMembers> {
  return sweepPages<MemberAddress, AddedMembers>(
    deps,
    { pace: PACE, heavyFor: input.projectId },
    {
      from: { added: 0, created: 0, notFound: [] },
      pages: [parseMembers(input.emails)],
      change: async (tx, members, sum) => {
        const { added, created, notFound } = await addSome(deps, tx, { ...input, members })
        return {
          added: sum.added + added,
          created: sum.created + created,
          notFound: [...sum.notFound, ...notFound],
        }
      },
    },
  )
}

/** @throws AppError as `addMembers` */
export async function deleteMembers(
  deps: Deps,
  { emails, ...key }: MemberChange,
): Promise<{ removed: number }> {
  const removed = await sweepPages<MemberAddress, number>(
    deps,
    { pace: PACE, heavyFor: key.projectId },
    {
      from: 0,
      pages: [parseMembers(emails)],
      change: async (tx, members, sum) => {
        await requireStatic(tx, key)
        const contactIds = (await findContacts(tx, key, members)).map(({ id }) => id)
        const left = await endMemberships(tx, { segmentId: key.id, contactIds, at: deps.now() })
        await addToCount(tx, key, -left.length)
        return sum + left.length
      },
    },
  )
  return { removed }
}

/** Runs the job that deletes the member rows of a deleted segment. A second run continues where the first ended. */
export async function deleteMemberships(
  deps: Pick<Base, 'store'>,
  job: Pick<RunningJob, 'payload' | 'signal'>,
): Promise<void> {
  const segmentId = readPayload(job.payload)
  const rules = { pace: DELETION_PACE, heavyFor: undefined, job, until: 'short' as const }
  await sweep(deps, rules, (tx) => tx.execute(deleteMemberBatch, { segmentId }))
}

async function addSome(
  { now }: Deps,
  tx: Tx,
  {
    projectId,
    id,
    createMissing = false,
    subscribed = true,
    members,
  }: NewMembers & { members: readonly MemberAddress[] },
): Promise<AddedMembers> {
  const key = { projectId, id }
  await requireStatic(tx, key)
  const at = now()
  const rule = { subscribed: undefined, subscribedByDefault: subscribed, reason: 'api' } as const
  const change = { projectId, ...rule, at }
  const entries = members.map(({ address }) => ({ address, changes: {} }))
  const saved = createMissing ? await upsertContacts(tx, change, entries) : []
  const contacts = createMissing
    ? saved.map(({ contact }) => contact)
    : await findContacts(tx, key, members)
  const contactIds = contacts.map((contact) => contact.id)
  const entered = await startMemberships(tx, { segmentId: id, contactIds, at })
  await addToCount(tx, key, entered.length)
  const known = new Set(contacts.map(({ address }) => address))
  const unknown = members.filter(({ address }) => !known.has(address.address))
  return {
    added: contacts.length,
    created: saved.filter(({ isNew }) => isNew).length,
    notFound: unknown.map(({ text }) => text),
  }
}

async function findContacts(tx: Tx, { projectId }: SegmentKey, members: readonly MemberAddress[]) {
  const addresses = members.map(({ address }) => address.address)
  const { contacts } = await findKnownAddresses(tx, projectId, addresses)
  return [...contacts.values()]
}

async function requireStatic(tx: Tx, key: SegmentKey): Promise<void> {
  const { type } = await loadSegment(tx, key)
  if (type === 'STATIC') return
  throw new AppError('BAD_REQUEST', 'Members of a DYNAMIC segment follow from its condition.', {
    suggestion: 'Change its condition, or use a STATIC segment.',
  })
}

async function addToCount(tx: Tx, key: SegmentKey, change: number): Promise<void> {
  if (change === 0) return
  const memberCount = sql`${segments.memberCount} + ${change}`
  await tx.update(segments).set({ memberCount }).where(isSegment(key))
}

/** Returns each address once, as first spelled in the request. */
function parseMembers(emails: readonly string[]): MemberAddress[] {
  if (emails.length === 0) throw invalidField('emails', 'too_small', 'At least one is needed')
  if (emails.length > MAX_ADDRESSES_PER_REQUEST)
    throw invalidField('emails', 'too_big', `At most ${MAX_ADDRESSES_PER_REQUEST}`)
  const members = new Map<string, MemberAddress>()
  const wrong: FieldError[] = []
  for (const [index, text] of emails.entries()) {
    const address = parseShownAddress(text)
    if (address === undefined) wrong.push(invalidAddress(index))
    else if (!members.has(address.address)) members.set(address.address, { address, text })
  }
  if (wrong.length > 0) throw invalid(wrong)
  return [...members.values()]
}

function invalidAddress(index: number): FieldError {
  return { field: `emails.${index}`, code: 'invalid_string', message: 'Not an email address' }
}

function readPayload(payload: unknown): string {
  const hasSegmentId = typeof payload === 'object' && payload !== null && 'segmentId' in payload
  if (hasSegmentId && typeof payload.segmentId === 'string') return payload.segmentId
  throw new TypeError('The job names no segment.')
}
