import { AppError } from '../../../base/errors.ts'
import type { SegmentRecord } from '../../../records/segment.ts'
import { type Segment, segments } from '../../../store/schema/segments.ts'
import type { SegmentType } from '../../../store/schema/words.ts'
import type { Base } from '../../ground/base.ts'
import { SEEN_ALL } from './caused-changes.ts'
import { countMatching } from './create.ts'
import { isSegment, loadSegment } from './get.ts'
import { requireReferences } from './require-references.ts'
import { checkTexts, readCondition, type SegmentTexts } from './validate.ts'
import { type SegmentKey, toSegmentRecord } from './view.ts'

type SegmentChanges = SegmentTexts & {
  /** Must be the current type, because the type cannot change. */
  type?: SegmentType | undefined
  /** Ignored for a STATIC segment. */
  condition?: unknown
  /** The API's `trackMembership`. */
  hasMembershipEvents?: boolean | undefined
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

/** Then what new rules of filters changed in the last one is past. */
function hasNewCondition(current: Segment, condition: Segment['condition'] | undefined): boolean {
  return condition !== undefined && JSON.stringify(condition) !== JSON.stringify(current.condition)
}

function fixedType(type: SegmentType): AppError {
  return new AppError('BAD_REQUEST', `The segment is ${type}; its type cannot change.`)
}
