/** Creates, changes and deletes segments: their name, description, condition and events. */
import {
  AppError,
  type FieldError,
  invalid,
  invalidField,
  NOT_ONE_LINE_TEXT,
  tooLongText,
} from '../../../base/errors.ts'
import { isOneFieldLine } from '../../../formats/one-line.ts'
import { MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH } from '../../../records/limits.ts'
import type { SegmentRecord } from '../../../records/segment.ts'
import { eq } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import { type Segment, segmentMembers, segments } from '../../../store/schema/segments.ts'
import type { SegmentType } from '../../../store/schema/words.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { enqueueJob } from '../../../work/jobs/enqueue.ts'
import type { Base } from '../../ground/base.ts'
import { FILTER_RULES } from '../../ground/conditions/changed-filters.ts'
import { compileCondition } from '../../ground/conditions/compile.ts'
import { type Condition, parseCondition } from '../../ground/conditions/condition.ts'
import type { Reference } from '../../ground/manifest/reference.ts'
import { findReferences, isUsed } from '../../ground/references/registry.ts'
import { countContacts } from '../contacts/list/count.ts'
import { SEEN_ALL } from './caused-changes.ts'
import { requireReferences } from './references.ts'
import { isSegment, loadSegment, type SegmentKey, toSegmentRecord } from './segments.ts'

type NewSegment = {
  projectId: string
  name: string
  description?: string | null | undefined
  /** DYNAMIC if absent. */
  type?: SegmentType | undefined
  /** Required for a DYNAMIC segment, refused for a STATIC one. */
  condition?: unknown
  /** The API's `trackMembership`. */
  hasMembershipEvents?: boolean | undefined
}

/** The list has no pages, and every segment is counted every five minutes. */
const MAX_SEGMENTS_PER_PROJECT = 1_000

type SegmentChanges = SegmentTexts & {
  /** If given, must be the current type, because the type cannot change. */
  type?: SegmentType | undefined
  /** Ignored for a STATIC segment. */
  condition?: unknown
  /** The API's `trackMembership`. */
  hasMembershipEvents?: boolean | undefined
}

type SegmentTexts = { name?: string | undefined; description?: string | null | undefined }

/**
 * Creates a segment and counts its contacts. Membership events begin with the first computation,
 * which runs some minutes later or on request.
 * @throws AppError VALIDATION_ERROR; BAD_REQUEST for a condition that refers to an unknown segment,
 *   or when the project has the maximum number of segments
 */
export async function createSegment(
  deps: Pick<Base, 'store' | 'now'>,
  input: NewSegment,
): Promise<SegmentRecord> {
  const {
    projectId,
    name,
    description = null,
    type = 'DYNAMIC',
    hasMembershipEvents = false,
  } = input
  checkTexts({ name, description })
  const condition = readCondition(type, input.condition)
  const at = deps.now()
  const memberCount = condition === null ? 0 : await countMatching(deps, { projectId, condition })
  const row = await deps.store.write(async (tx) => {
    await requireFreeSegment(tx, projectId)
    if (condition !== null) await requireReferences(tx, { projectId, condition })
    const definition = { id: newId(), projectId, name, description, type, condition }
    const counted = { memberCount, countedAt: at, filterRules: FILTER_RULES }
    const state = { hasMembershipEvents, ...counted, createdAt: at, updatedAt: at }
    return tx
      .insert(segments)
      .values({ ...definition, ...state, ...SEEN_ALL })
      .returning()
      .get()
  })
  return toSegmentRecord(row)
}

/**
 * Changes the fields that are present; null clears the description. An update itself appends no
 * membership events. The next computation compares the matching contacts with the last members:
 *
 *   a new condition    contacts that no longer match leave, contacts that match now enter, and the
 *                      others stay without events
 *   events off, on     the members are kept, so only contacts that changed meanwhile enter or
 *                      leave, and no contact enters twice
 *   a new name         no event; later events have the new name
 *
 * A new condition is counted at once, and ends the note on new rules of filters.
 * @throws AppError RESOURCE_NOT_FOUND; VALIDATION_ERROR; BAD_REQUEST for another type, or a
 *   condition that refers to an unknown segment or to the segment itself
 */
export async function updateSegment(
  deps: Pick<Base, 'store' | 'now'>,
  { changes, ...key }: SegmentKey & { changes: SegmentChanges },
): Promise<SegmentRecord> {
  checkTexts(changes)
  const { type } = await loadSegment(deps.store.read, key)
  if (changes.type !== undefined && changes.type !== type) throw fixedType(type)
  const definition = await readDefinition(deps, key, { ...changes, type })
  const row = await deps.store.write(async (tx) => {
    const current = await loadSegment(tx, key)
    if (definition?.condition !== undefined) {
      const { condition } = definition
      await requireReferences(tx, { ...key, condition, ofSegmentId: key.id })
    }
    const columns = { ...given(changes), ...definition }
    const isNew = hasNewCondition(current, definition?.condition)
    return tx
      .update(segments)
      .set({
        ...columns,
        ...(isNew ? { filterChange: null } : {}),
        ...(columns.hasMembershipEvents === true && !current.hasMembershipEvents ? SEEN_ALL : {}),
        updatedAt: isChange(current, columns) ? deps.now() : current.updatedAt,
      })
      .where(isSegment(key))
      .returning()
      .get()
  })
  return toSegmentRecord(row)
}

/**
 * Deletes a segment without events. A job deletes its member rows later.
 * @throws AppError RESOURCE_NOT_FOUND; CONFLICT while another segment's condition refers to the
 *   segment (`details.segments`), or an unfinished campaign or the schedule of a workflow does
 *   (`details.campaigns`, `details.workflows`)
 */
export async function deleteSegment(
  deps: Pick<Base, 'store' | 'jobNotifier' | 'now' | 'duties'>,
  key: SegmentKey,
): Promise<void> {
  const { store, jobNotifier, now } = deps
  await store.write(async (tx) => {
    await loadSegment(tx, key)
    await refuseUsed(deps, tx, key)
    await tx.delete(segments).where(isSegment(key))
    if (!(await hasMembers(tx, key.id))) return
    const { projectId, id: segmentId } = key
    await enqueueJob(tx, { kind: 'clear-segment', projectId, payload: { segmentId }, now: now() })
    tx.afterCommit(jobNotifier.notify)
  })
}

/**
 * Counts the contacts that match a condition. `ofSegmentId`: the segment that the condition belongs
 * to.
 */
async function countMatching(
  deps: Pick<Base, 'store' | 'now'>,
  input: { projectId: string; condition: Condition; ofSegmentId?: string },
): Promise<number> {
  const condition = await compileCondition(deps, input)
  return countContacts(deps, { projectId: input.projectId, condition })
}

async function requireFreeSegment(tx: Tx, projectId: string): Promise<void> {
  const count = await tx.$count(segments, eq(segments.projectId, projectId))
  if (count < MAX_SEGMENTS_PER_PROJECT) return
  throw new AppError('BAD_REQUEST', `A project may have ${MAX_SEGMENTS_PER_PROJECT} segments.`)
}

/** Returns the new condition with its count; undefined without a new condition. */
async function readDefinition(
  deps: Pick<Base, 'store' | 'now'>,
  { projectId, id }: SegmentKey,
  { type, condition: value }: { type: SegmentType; condition?: unknown },
) {
  if (type === 'STATIC' || value === undefined) return undefined
  const condition = readCondition(type, value)
  if (condition === null) return undefined
  const countedAt = deps.now()
  const memberCount = await countMatching(deps, { projectId, condition, ofSegmentId: id })
  return { condition, memberCount, countedAt }
}

function given({ name, description, hasMembershipEvents }: SegmentChanges): Partial<Segment> {
  const columns = Object.entries({ name, description, hasMembershipEvents })
  return Object.fromEntries(columns.filter(([, value]) => value !== undefined))
}

/** Whether the definition changes; a new count alone is not a change. */
function isChange(current: Segment, { name, description, ...rest }: Partial<Segment>): boolean {
  const { condition = current.condition, hasMembershipEvents = current.hasMembershipEvents } = rest
  return (
    (name ?? current.name) !== current.name ||
    (description === undefined ? current.description : description) !== current.description ||
    hasMembershipEvents !== current.hasMembershipEvents ||
    JSON.stringify(condition) !== JSON.stringify(current.condition)
  )
}

/**
 * Whether the condition is a new one. A new condition ends the note on what new rules of filters
 * changed in the old one.
 */
function hasNewCondition(current: Segment, condition: Segment['condition'] | undefined): boolean {
  return condition !== undefined && JSON.stringify(condition) !== JSON.stringify(current.condition)
}

function fixedType(type: SegmentType): AppError {
  return new AppError('BAD_REQUEST', `The segment is ${type}; its type cannot change.`)
}

/** Checks the texts that are present. @throws AppError VALIDATION_ERROR */
function checkTexts({ name, description }: SegmentTexts): void {
  const wrong: FieldError[] = []
  if (name === '') wrong.push({ field: 'name', code: 'too_small', message: 'Must not be empty' })
  if (name !== undefined && name.length > MAX_NAME_LENGTH) {
    wrong.push(tooLong('name', MAX_NAME_LENGTH))
  }
  if (name !== undefined && !isOneFieldLine(name)) {
    wrong.push({ field: 'name', code: 'invalid_string', message: NOT_ONE_LINE_TEXT })
  }
  if ((description?.length ?? 0) > MAX_DESCRIPTION_LENGTH) {
    wrong.push(tooLong('description', MAX_DESCRIPTION_LENGTH))
  }
  if (wrong.length > 0) throw invalid(wrong)
}

/**
 * Returns the condition of a segment of this type; null for a STATIC segment.
 * @throws AppError VALIDATION_ERROR with the path of each error
 */
function readCondition(type: SegmentType, value: unknown): Condition | null {
  const isGiven = value !== undefined && value !== null
  if (type === 'DYNAMIC' && isGiven) return parseCondition(value, 'condition')
  if (type === 'STATIC' && !isGiven) return null
  if (type === 'STATIC')
    throw invalidField('condition', 'custom', 'A STATIC segment has no condition')
  throw invalidField('condition', 'invalid_type', 'A DYNAMIC segment needs a condition')
}

function tooLong(field: string, max: number): FieldError {
  return { field, code: 'too_big', message: tooLongText(max) }
}

async function hasMembers(tx: Tx, segmentId: string): Promise<boolean> {
  const isItsOwn = eq(segmentMembers.segmentId, segmentId)
  const found = await tx.select().from(segmentMembers).where(isItsOwn).limit(1)
  return found.length > 0
}

async function refuseUsed(
  deps: Pick<Base, 'duties'>,
  tx: Tx,
  { projectId, id }: SegmentKey,
): Promise<void> {
  const references = await findReferences(deps, tx, {
    projectId,
    referent: { kind: 'segment', id },
  })
  if (!isUsed(references)) return
  const segments = references.segments.toSorted(byName)
  const campaigns = references.campaigns.toSorted(byName)
  const workflows = references.workflows.toSorted(byName)
  const users = [
    segments.length > 0 ? `the condition of ${namesOf(segments)}` : [],
    campaigns.length > 0 ? `the audience of ${namesOf(campaigns)}` : [],
    workflows.length > 0 ? `the schedule of ${namesOf(workflows)}` : [],
  ].flat()
  throw new AppError('CONFLICT', `The segment is in use by ${users.join(' and ')}.`, {
    details: { segments, campaigns, workflows },
  })
}

function namesOf(references: readonly Reference[]): string {
  return references.map(({ name }) => `"${name}"`).join(', ')
}

function byName(one: Reference, other: Reference): number {
  if (one.name === other.name) return one.id < other.id ? -1 : 1
  return one.name < other.name ? -1 : 1
}
