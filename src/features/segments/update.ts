import { AppError } from '../../errors.ts'
import { type Segment, segments } from '../../store/schema/segments.ts'
import type { SegmentType } from '../../store/schema/words.ts'
import type { Base } from '../base.ts'
import { countMatching } from './create.ts'
import { isSegment, loadSegment } from './get.ts'
import { requireReferences } from './require-references.ts'
import { checkTexts, readCondition, type SegmentTexts } from './validate.ts'
import { type SegmentTarget, type SegmentView, toSegmentView } from './view.ts'

export type SegmentChanges = SegmentTexts & {
  /** Given again at most; it cannot change. */
  type?: SegmentType | undefined
  /** Ignored for a STATIC one. */
  condition?: unknown
  hasMembershipEvents?: boolean | undefined
}

/**
 * Changes the fields that are given; null clears the description. No change by itself makes anybody
 * enter or leave a tracked segment; the next compute does, by comparing whom the condition matches
 * then with who was a member last:
 *
 *   a new condition     who no longer matches leaves, who newly matches enters, the rest stay
 *                       without events
 *   tracking off, on    the members of before are remembered: only those who came or went meanwhile
 *                       enter or leave, so that nobody is greeted twice
 *   a new name          no event; from then on events are called by the new name
 *
 * A new condition is counted at once.
 * @throws AppError RESOURCE_NOT_FOUND, VALIDATION_ERROR; BAD_REQUEST: another type, a condition that
 *   refers to no segment or to this one
 */
export async function updateSegment(
  deps: Pick<Base, 'store' | 'now'>,
  { changes, ...target }: SegmentTarget & { changes: SegmentChanges },
): Promise<SegmentView> {
  checkTexts(changes)
  const { type } = await loadSegment(deps.store.read, target)
  if (changes.type !== undefined && changes.type !== type) throw fixedType(type)
  const definition = await readDefinition(deps, target, { ...changes, type })
  const row = await deps.store.write(async (tx) => {
    const current = await loadSegment(tx, target)
    if (definition?.condition !== undefined) {
      const { condition } = definition
      await requireReferences(tx, { ...target, condition, ofSegmentId: target.id })
    }
    const columns = { ...given(changes), ...definition }
    return tx
      .update(segments)
      .set({ ...columns, updatedAt: isChange(current, columns) ? deps.now() : current.updatedAt })
      .where(isSegment(target))
      .returning()
      .get()
  })
  return toSegmentView(row)
}

/** The new condition with its count; undefined when there is none. */
async function readDefinition(
  deps: Pick<Base, 'store' | 'now'>,
  { projectId, id }: SegmentTarget,
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

/** Whether what people define differs; counts are no part of that. */
function isChange(current: Segment, { name, description, ...rest }: Partial<Segment>): boolean {
  const { condition = current.condition, hasMembershipEvents = current.hasMembershipEvents } = rest
  return (
    (name ?? current.name) !== current.name ||
    (description === undefined ? current.description : description) !== current.description ||
    hasMembershipEvents !== current.hasMembershipEvents ||
    JSON.stringify(condition) !== JSON.stringify(current.condition)
  )
}

function fixedType(type: SegmentType): AppError {
  return new AppError('BAD_REQUEST', `The segment is ${type}; its type cannot change.`)
}
